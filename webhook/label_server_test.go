// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/namespaces"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// ofKarmada is an object of Karmada in a namespace.
func ofKarmada(apiVersion, kind, namespace string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
	o.SetNamespace(namespace)
	o.SetName("web")
	return o
}

// serveProjectLabel serves and registers the webhook until the test ends, or until its server is closed.
func serveProjectLabel(t *testing.T) *httptest.Server {
	t.Helper()
	content, err := webhook.NamespacesConfiguration()
	if err != nil {
		t.Fatal(err)
	}
	scheme := testenv.Scheme(t, v1alpha.AddToScheme, milo.AddToScheme, clusterv1alpha1.Install)
	planes, err := namespaces.New(namespaces.Options{Hub: testenv.Config(t), Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(webhook.NamespacePath, &admission.Webhook{Handler: &webhook.ProjectLabel{Hub: planes.Root(), Eligible: namespaces.Eligible}})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	register(t, content, webhook.NamespacePath, server)
	return server
}

// TestProjectLabel: a namespace with objects that propagate does not become a project until they are removed. Nothing else
// about a namespace waits for the webhook.
func TestProjectLabel(t *testing.T) {
	server := serveProjectLabel(t)
	admin, operator := as(t, ""), as(t, "an-operator")
	label := func(namespace, value string, opts ...client.PatchOption) error {
		object := &corev1.Namespace{}
		object.Name = namespace
		return operator.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"labels":{"`+v1alpha.LabelNamespaceProject+`":`+value+`}}}`)), opts...)
	}
	resource := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
	taken := map[string]*unstructured.Unstructured{
		"PropagationPolicy": ofKarmada("policy.karmada.io/v1alpha1", "PropagationPolicy", "", map[string]any{
			"resourceSelectors": []any{map[string]any{"apiVersion": "v1", "kind": "Pod"}},
		}),
		"OverridePolicy":  ofKarmada("policy.karmada.io/v1alpha1", "OverridePolicy", "", map[string]any{"overrideRules": []any{}}),
		"ResourceBinding": ofKarmada("work.karmada.io/v1alpha2", "ResourceBinding", "", map[string]any{"resource": resource}),
		"Work":            ofKarmada("work.karmada.io/v1alpha1", "Work", "", map[string]any{"workload": map[string]any{}}),
	}
	for kind, object := range taken {
		t.Run(kind, func(t *testing.T) { checkTaken(t, object, label) })
	}
	free := testenv.Namespace(t, admin, "free").Name
	server.Close()
	if err := label(free, `"true"`); err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("without a replica: %v", err)
	}
	// No other write waits for it.
	created := testenv.Namespace(t, operator, "created")
	created.Annotations = map[string]string{"a": "b"}
	if err := operator.Update(t.Context(), created); err != nil {
		t.Errorf("annotate a namespace: %v", err)
	}
}

// checkTaken verifies that a namespace with an object becomes a project when the object is removed.
func checkTaken(t *testing.T, object *unstructured.Unstructured, label func(namespace, value string, opts ...client.PatchOption) error) {
	t.Helper()
	admin, kind := as(t, ""), object.GetKind()
	namespace := testenv.Namespace(t, admin, "taken").Name
	object.SetNamespace(namespace)
	if err := admin.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return label(namespace, `"true"`, client.DryRunAll) != nil, nil
	})
	if err != nil {
		t.Fatalf("%s: the label is accepted", kind)
	}
	if err := label(namespace, `"suspended"`); err == nil || !strings.Contains(err.Error(), "while it has "+kind+" web") ||
		!strings.Contains(err.Error(), "kubectl --namespace="+namespace+" delete ") {
		t.Errorf("%s: %v", kind, err)
	}
	if err := admin.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := label(namespace, `"true"`); err != nil {
		t.Errorf("%s is deleted: %v", kind, err)
	}
	// Karmada's own policies are refused in projects; what is there all the same does not hold the project up.
	again := object.DeepCopy()
	again.SetResourceVersion("")
	if err := admin.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{`"suspended"`, `"true"`, "null"} {
		if err := label(namespace, value); err != nil {
			t.Errorf("%s: the label becomes %s: %v", kind, value, err)
		}
	}
}
