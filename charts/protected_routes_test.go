// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

var routeChanges = []change{
	{name: "names", patch: `{"spec":{"hostnames":["other.example.com"]}}`},
	{name: "Service", patch: `{"spec":{"rules":[{"backendRefs":[{"name":"other","port":80}]}]}}`},
	{name: "Gateway", patch: `{"spec":{"parentRefs":null}}`},
	{name: "own label removed", patch: `{"metadata":{"labels":null}}`},
	{name: "owner removed", patch: `{"metadata":{"ownerReferences":null}}`},
	{
		name: "marks of the Gateway's controller", allowed: true,
		patch: `{"metadata":{"finalizers":["gateway.example.com/a"],"annotations":{"gateway.example.com/a":"b"}}}`,
	},
	{name: "finalizer removed", patch: `{"metadata":{"finalizers":null}}`, allowed: true},
	{name: "status of the Gateway's controller", subresource: "status", allowed: true, patch: `{"status":{"parents":[{
		"controllerName":"gateway.example.com/controller","parentRef":{"namespace":"infra","name":"public"},"conditions":[{"type":"Accepted",
		"status":"True","reason":"Accepted","message":"","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]}]}}`},
}

var serviceChanges = []change{
	{name: "ports", patch: `{"spec":{"ports":[{"port":81}]}}`},
	{name: "selector", patch: `{"spec":{"selector":{"app":"other"}}}`},
	{name: "addresses of the Gateway", patch: `{"metadata":{"annotations":{"compute.datumapis.com/gateway-addresses":"192.0.2.1"}}}`},
	{name: "type", patch: `{"spec":{"type":"NodePort"}}`},
	{name: "addresses and more", patch: `{"spec":{"externalIPs":["192.0.2.1"],"sessionAffinity":"ClientIP"}}`},
	{name: "status of the load balancer", subresource: "status", patch: `{"status":{"conditions":[]}}`, allowed: true},
	{name: "address of the load balancer's controller", patch: `{"spec":{"loadBalancerIP":"192.0.2.1"}}`, allowed: true},
	{name: "another address", patch: `{"spec":{"loadBalancerIP":"192.0.2.2","externalIPs":["192.0.2.1"]}}`, allowed: true},
	{name: "no address", patch: `{"spec":{"loadBalancerIP":null,"externalIPs":null}}`, allowed: true},
}

var exportChanges = []change{
	{name: "spec", patch: `{"spec":{"exportedLabels":{"a":"b"}}}`},
	{name: "owner removed", patch: `{"metadata":{"ownerReferences":null}}`},
	{name: "finalizer", patch: `{"metadata":{"finalizers":["mcs.example.com/a"]}}`, allowed: true},
	{name: "finalizer removed", patch: `{"metadata":{"finalizers":null}}`, allowed: true},
	{name: "status of the controller", subresource: "status", patch: `{"status":{"conditions":[]}}`, allowed: true},
}

// route is an HTTPRoute as the agent creates it.
func route(namespace, name, version string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"parentRefs": []any{map[string]any{"namespace": "infra", "name": "public"}}, "hostnames": []any{"web.example.com"},
		"rules": []any{map[string]any{"backendRefs": []any{map[string]any{"name": "web", "port": int64(80)}}}},
	}}}
	object.SetAPIVersion("gateway.networking.k8s.io/" + version)
	object.SetKind("HTTPRoute")
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetLabels(owned("NetworkPolicy", namespace, name).GetLabels())
	object.SetOwnerReferences(owned("PodDisruptionBudget", namespace, name).GetOwnerReferences())
	return object
}

// serviceAsKept is a Service as the agent creates it, and export the ServiceExport beside it.
func serviceAsKept(namespace string) *unstructured.Unstructured {
	object := route(namespace, "web", "v1")
	object.SetAPIVersion("v1")
	object.SetKind("Service")
	object.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}
	return object
}

func export(namespace string) *unstructured.Unstructured {
	object := route(namespace, "web", "v1")
	object.SetAPIVersion("multicluster.x-k8s.io/v1alpha1")
	object.SetKind("ServiceExport")
	unstructured.RemoveNestedField(object.Object, "spec")
	return object
}

// serveOptionalKinds adds the CRDs of the Gateway API and of ServiceExport until the test ends.
func serveOptionalKinds(t *testing.T) {
	t.Helper()
	repository, err := tools.FindRepository()
	if err != nil {
		t.Fatal(err)
	}
	files, err := (&tools.Builder{Repository: repository}).GatewayAPI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(repository, "cell", "services", "testdata", "serviceexports.yaml"))
	c := newClient(t)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, crd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unserve(t, c, crd) })
		if err := c.Create(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
	}
	for _, object := range []*unstructured.Unstructured{
		route("default", "none", "v1"), route("default", "none", "v1beta1"), export("default"),
	} {
		await(t, object.GetKind()+" is not served", func() bool {
			return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(object), object.DeepCopy()))
		})
	}
}

// TestProtectedRoutes: in a cell that gets the Gateway API after the policy, only the add-on, Karmada and Kubernetes change
// the agent's Services, HTTPRoutes and ServiceExports, and the controllers of these kinds report on them.
func TestProtectedRoutes(t *testing.T) {
	c := newClient(t)
	namespace := testenv.Namespace(t, c, "routes").Name
	key := client.ObjectKey{Namespace: namespace, Name: "web"}
	if err := c.Get(t.Context(), key, route(namespace, "web", "v1")); !meta.IsNoMatchError(err) {
		t.Fatalf("the Gateway API is served before the policy: %v", err)
	}
	protect(t, c)
	serveOptionalKinds(t)
	protects(t, route(namespace, "web", "v1"), routeChanges)
	protects(t, serviceAsKept(namespace), serviceChanges)
	protects(t, export(namespace), exportChanges)

	earlier := route(namespace, "earlier", "v1beta1")
	if err := as(t, cellAgent).Create(t.Context(), route(namespace, "earlier", "v1")); err != nil {
		t.Fatal(err)
	}
	other := as(t, cellAdmin)
	refused(t, "an earlier version of the API", patchAs(t, other, earlier, routeChanges[0], false), true)
	theirs := route(namespace, "theirs", "v1")
	theirs.SetLabels(nil)
	theirs.SetOwnerReferences(nil)
	refused(t, "create a route of others", other.Create(t.Context(), theirs), false)
	refused(t, "change a route of others", patchAs(t, other, theirs, routeChanges[0], false), false)
	refused(t, "delete a route of others", other.Delete(t.Context(), theirs), false)

	// RBAC alone admits what the policy refuses.
	unregister(t, c, inCell(t, render(t, parts["hub"]), protectionOn))
	awaitInForce(t, c)
	if err := patchAs(t, other, earlier, routeChanges[0], false); err != nil {
		t.Error(err)
	}
}
