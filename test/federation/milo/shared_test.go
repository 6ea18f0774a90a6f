// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json" // keeps whole numbers whole
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, content string) *unstructured.Unstructured {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestIsShared(t *testing.T) {
	for name, tc := range map[string]struct {
		object string
		want   bool
	}{
		"own role":       {"{kind: ClusterRole, metadata: {name: compute}}", true},
		"bootstrap role": {"{kind: ClusterRole, metadata: {name: edit, labels: {kubernetes.io/bootstrapping: rbac-defaults}}}", false},
		"Projects":       {"{kind: CustomResourceDefinition, metadata: {name: projects.resourcemanager.miloapis.com}}", false},
		"other kind":     {"{kind: CustomResourceDefinition, metadata: {name: locationbindings.networking.datumapis.com}}", true},
		"being deleted":  {"{kind: CustomResourceDefinition, metadata: {name: x, deletionTimestamp: '2026-01-01T00:00:00Z'}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isShared(parse(t, tc.object)); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

func TestCopyOf(t *testing.T) {
	original := parse(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: compute
  uid: b2c1
  resourceVersion: "7"
  creationTimestamp: "2026-01-01T00:00:00Z"
  finalizers: [example.com/held]
  ownerReferences: [{apiVersion: v1, kind: Namespace, name: a, uid: c}]
  labels: {app: compute}
  annotations: {note: kept, kubectl.kubernetes.io/last-applied-configuration: "{}"}
aggregationRule: {clusterRoleSelectors: []}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
status: {any: thing}
`)
	want := parse(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: compute
  labels: {app: compute}
  annotations: {note: kept}
aggregationRule: {clusterRoleSelectors: []}
`)
	before := original.DeepCopy()
	if got := copyOf(original); !reflect.DeepEqual(got.Object, want.Object) {
		t.Errorf("got %v, want %v", got.Object, want.Object)
	}
	if !reflect.DeepEqual(original, before) {
		t.Error("the original was changed, but it belongs to the cache")
	}
}

func TestSameCopy(t *testing.T) {
	const kind = "{kind: CustomResourceDefinition, metadata: {name: x, resourceVersion: '8'}, spec: {group: g}, status: {n: 1}}"
	before := parse(t, kind)
	for name, tc := range map[string]struct {
		change func(*unstructured.Unstructured)
		want   bool
	}{
		"status":   {func(o *unstructured.Unstructured) { o.Object["status"] = map[string]any{"n": int64(2)} }, true},
		"version":  {func(o *unstructured.Unstructured) { o.SetResourceVersion("9") }, true},
		"spec":     {func(o *unstructured.Unstructured) { o.Object["spec"] = map[string]any{"group": "h"} }, false},
		"label":    {func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) }, false},
		"unshared": {func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{bootstrapLabel: "x"}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			after := before.DeepCopy()
			tc.change(after)
			if got := sameCopy(before, after); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

func TestServedKind(t *testing.T) {
	crd := parse(t, `
spec:
  group: example.com
  names: {plural: things}
  versions: [{name: v1, served: false}, {name: v2, served: true}]
`)
	want := schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "things"}
	if got, ok := servedKind(crd); !ok || got != want {
		t.Errorf("got %v, %t, want %v", got, ok, want)
	}
	if got, ok := servedKind(parse(t, "{spec: {group: example.com, versions: []}}")); ok {
		t.Errorf("got %v for a kind that is not served", got)
	}
}

func TestEmbeddedCRDs(t *testing.T) {
	definitions, err := embeddedCRDs()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, crd := range definitions {
		got[crd.GetName()] = true
	}
	want := map[string]bool{
		"projects.resourcemanager.miloapis.com": true, "locationbindings.networking.datumapis.com": true,
		"resourcegrants.quota.miloapis.com": true, "resourceclaims.quota.miloapis.com": true, "allowancebuckets.quota.miloapis.com": true,
		"resourceregistrations.quota.miloapis.com": true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
