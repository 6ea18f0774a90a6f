// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestProtectionOnTheHub: as a template on the hub, the policy selects no object.
func TestProtectionOnTheHub(t *testing.T) {
	c := newClient(t)
	other, namespace := as(t, cellAdmin), testenv.Namespace(t, c, "hub").Name
	objects := render(t, parts["hub"])
	policy, binding := find(objects, protection).DeepCopy(), find(objects, protectionOn).DeepCopy()
	// Another binding, which selects one object, shows when the policy is in force. The names differ from the other tests'
	// names, which the API server may still remember.
	probe := binding.DeepCopy()
	probe.SetName("probe")
	setField(t, probe, map[string]any{"probe": "true"}, "spec", "matchResources", "objectSelector", "matchLabels")
	policy.SetName("on-the-hub")
	binding.SetName("on-the-hub")
	for _, object := range []*unstructured.Unstructured{policy, binding, probe} {
		if object.GetKind() == binding.GetKind() {
			setField(t, object, "on-the-hub", "spec", "policyName")
		}
		t.Cleanup(func() { unregister(t, c, object) })
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	selected := cellObject("InstanceSlice", namespace, "selected")
	selected.SetLabels(map[string]string{"probe": "true"})
	awaitInForce(t, c)
	if err := other.Create(t.Context(), selected, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	for _, object := range []*unstructured.Unstructured{
		cellObject("InstanceSlice", namespace, "web"), cellObject("Cell", "", "web-on-the-hub"),
	} {
		if err := other.Create(t.Context(), object); err != nil {
			t.Error(err)
		}
	}
}

// TestProtectionWarns: an operator can admit requests that the policy would refuse.
func TestProtectionWarns(t *testing.T) {
	c := newClient(t)
	protect(t, c)
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(inCell(t,
		render(t, parts["hub"], set{"agents.protection.action": "Warn"}), protectionOn)),
		client.ForceOwnership, client.FieldOwner("charts-test")); err != nil {
		t.Fatal(err)
	}
	namespace := testenv.Namespace(t, c, "warned").Name
	awaitInForce(t, c)
	if err := as(t, cellAdmin).Create(t.Context(), cellObject("InstanceSlice", namespace, "web"), client.DryRunAll); err != nil {
		t.Error(err)
	}
}

// TestProtectedNamespaces: in a cell, the namespace of a project with everything in it is deleted by the add-on, Karmada and
// Kubernetes only, or with a reason. Another namespace is not affected.
func TestProtectedNamespaces(t *testing.T) {
	c := newClient(t)
	protect(t, c)
	other := client.NewDryRunClient(as(t, cellAdmin))
	space := namespace("ns-00000000-0000-4000-8000-00000000d011")
	space.Labels = map[string]string{"compute.datumapis.com/hub-uid": "hub"}
	ensure(t, c, space)
	ensureNamespace(t, c, "of-another-product")
	if err := remove(namespace(space.Name))(t.Context(), other); err == nil || !strings.Contains(err.Error(), breakGlass) ||
		!strings.Contains(err.Error(), "karmada-compute and Karmada write namespaces/") {
		t.Error(err)
	}
	for _, user := range []string{cellAgent, karmadaPulled, "system:serviceaccount:kube-system:namespace-controller"} {
		if err := remove(namespace(space.Name))(t.Context(), client.NewDryRunClient(as(t, user))); err != nil {
			t.Errorf("%s: %v", user, err)
		}
	}
	if err := remove(namespace(space.Name))(t.Context(), client.NewDryRunClient(as(t, cellAdmin, emergency))); err != nil {
		t.Error(err)
	}
	if err := remove(namespace("of-another-product"))(t.Context(), other); err != nil {
		t.Error(err)
	}
	for reason, isEnough := range map[string]bool{" ": false, "the project is closed": true} {
		because := patch(namespace(space.Name), `{"metadata":{"annotations":{"`+breakGlass+`":"`+reason+`"}}}`)
		if err := because(t.Context(), as(t, cellAdmin)); err != nil {
			t.Fatal(err)
		}
		if err := remove(namespace(space.Name))(t.Context(), other); (err == nil) != isEnough {
			t.Errorf("with reason %q: %v", reason, err)
		}
	}
}

// TestProtectionQuotes: names of users and groups are texts in the expressions, whatever they contain.
func TestProtectionQuotes(t *testing.T) {
	objects := render(t, parts["hub"], set{"agents.protection.writers": []any{map[string]any{"kind": "User", "name": `o'brien"`}}})
	policy := find(objects, protection).DeepCopy()
	if err := newClient(t).Create(t.Context(), policy, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if got := query(t, objects, protection, "{.spec.matchConditions[*].expression}"); !strings.Contains(got, `"o'brien\""`) {
		t.Errorf("the user is not in %s", got)
	}
}
