// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"github.com/karmada-compute/karmada-compute/charts"
)

// set are values by their keys with dots.
type set map[string]any

// values builds the map that Helm takes.
func values(sets ...set) map[string]any {
	result := map[string]any{"projects": map[string]any{"mode": "milo"}}
	for _, one := range sets {
		for key, value := range one {
			in := result
			names := strings.Split(key, ".")
			for _, name := range names[:len(names)-1] {
				if _, ok := in[name].(map[string]any); !ok {
					in[name] = map[string]any{}
				}
				in = in[name].(map[string]any)
			}
			in[names[len(names)-1]] = value
		}
	}
	return result
}

// parts are the values that enable each part.
var parts = map[string]set{
	"host": {},
	"hub":  {"host.enabled": false, "hub.enabled": true},
	"milo": {"host.enabled": false, "milo.enabled": true},
}

func render(t testing.TB, sets ...set) []*unstructured.Unstructured {
	t.Helper()
	return once(t, values(sets...), charts.Render)
}

// renderFast renders the objects without the schemas of the CRDs, for tests that render often.
func renderFast(t testing.TB, sets ...set) []*unstructured.Unstructured {
	t.Helper()
	return once(t, values(sets...), charts.RenderWithoutSchemas)
}

// rendered has what the tests have rendered, by the values and the function. Many tests render the same: a third of the time of all
// of them was spent on it.
var rendered sync.Map

// once returns a copy of the objects of these values, which the first call renders.
func once(t testing.TB, values map[string]any, function func(map[string]any, charts.Release) ([]*unstructured.Unstructured, error),
) []*unstructured.Unstructured {
	t.Helper()
	content, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("%p %s", function, content)
	objects, found := rendered.Load(key)
	if !found {
		if objects, err = function(values, charts.Release{}); err != nil {
			t.Fatalf("render %s: %v", content, err)
		}
		rendered.Store(key, objects)
	}
	var copies []*unstructured.Unstructured
	for _, object := range objects.([]*unstructured.Unstructured) {
		copies = append(copies, object.DeepCopy())
	}
	return copies
}

// none is the result of a query about an object that is not rendered.
const none = "(no such object)"

// query returns the result of a JSONPath template in the object "Kind/name".
func query(t testing.TB, objects []*unstructured.Unstructured, object, template string) string {
	t.Helper()
	found := find(objects, object)
	if found == nil {
		return none
	}
	path := jsonpath.New(object).AllowMissingKeys(true)
	if err := path.Parse(template); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := path.Execute(&out, found.Object); err != nil {
		t.Fatalf("%s in %s: %v", template, object, err)
	}
	return out.String()
}

func find(objects []*unstructured.Unstructured, object string) *unstructured.Unstructured {
	for _, candidate := range objects {
		if object == id(candidate) {
			return candidate
		}
	}
	return nil
}

func id(object *unstructured.Unstructured) string { return object.GetKind() + "/" + object.GetName() }

// TestOnePart: the objects of a release have the labels of its part and unique names, and a release of two parts is
// refused.
func TestOnePart(t *testing.T) {
	for part, enabled := range parts {
		objects := render(t, enabled, set{"host.separateWebhooks": true, "webhooks.register": false, "webhooks.addOnUsers": []any{"a"}})
		names := map[string]bool{}
		for _, object := range objects {
			if name := object.GetNamespace() + "/" + id(object); names[name] {
				t.Errorf("%s has %s twice", part, name)
			} else {
				names[name] = true
			}
			labels := object.GetLabels()
			// CustomResourceDefinitions outlive a release.
			instance := cmp.Or(labels["app.kubernetes.io/instance"], object.GetKind())
			if labels["app.kubernetes.io/name"] != "karmada-compute" || instance != "karmada-compute" && instance != "CustomResourceDefinition" {
				t.Errorf("%s has labels %v", id(object), labels)
			}
		}
	}
	if objects := render(t, set{"host.enabled": false}); len(objects) > 0 {
		t.Errorf("no part has %d objects", len(objects))
	}
	_, err := charts.Render(values(parts["hub"], set{"host.enabled": true}), charts.Release{})
	if err == nil || !strings.Contains(err.Error(), "host.enabled and hub.enabled") {
		t.Errorf("error %v", err)
	}
}

// TestInstallOrder: objects that others need come first.
func TestInstallOrder(t *testing.T) {
	position := map[string]int{}
	for i, object := range render(t, parts["hub"]) {
		position[id(object)] = i
	}
	order := []string{
		"Namespace/karmada-compute-system", "CustomResourceDefinition/instances.compute.datumapis.com",
		"ClusterRole/karmada-compute-cell", "ClusterRoleBinding/karmada-compute-cell", "Deployment/karmada-compute-cell",
		"ClusterPropagationPolicy/karmada-compute-cell",
	}
	for i := 1; i < len(order); i++ {
		if position[order[i-1]] >= position[order[i]] {
			t.Errorf("%s comes before %s", order[i], order[i-1])
		}
	}
}

// TestManagedBy: the addon can set itself as the manager of the objects.
func TestManagedBy(t *testing.T) {
	objects, err := charts.Render(nil, charts.Release{Name: "mine", Namespace: "elsewhere", ManagedBy: "karmadactl"})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		labels := object.GetLabels()
		if labels["app.kubernetes.io/managed-by"] != "karmadactl" || labels["app.kubernetes.io/instance"] != "mine" {
			t.Errorf("%s has labels %v", id(object), labels)
		}
	}
	if namespace := find(objects, "Deployment/karmada-compute").GetNamespace(); namespace != "elsewhere" {
		t.Errorf("namespace is %q", namespace)
	}
	// The binary's webhook configurations name the Service in karmada-system.
	if args := query(t, objects, "Deployment/karmada-compute", "{.spec.template.spec.containers[0].args}"); !strings.Contains(args,
		`"--webhook-url=https://karmada-compute-webhook.elsewhere.svc:443"`) {
		t.Error(args)
	}
}

// TestOldAPIServer: an API server that is too old is refused, with both versions.
func TestOldAPIServer(t *testing.T) {
	_, err := charts.Render(nil, charts.Release{KubeVersion: "v1.30.9"})
	if err == nil || !strings.Contains(err.Error(), "v1.30.9") || !strings.Contains(err.Error(), ">=1.31") {
		t.Errorf("error %v", err)
	}
	if _, err := charts.Render(nil, charts.Release{KubeVersion: "new"}); err == nil || !strings.Contains(err.Error(), `"new"`) {
		t.Errorf("error %v", err)
	}
}
