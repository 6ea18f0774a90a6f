// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	deletions   = "ValidatingAdmissionPolicy/karmada-compute-deletions"
	deletionsOn = "ValidatingAdmissionPolicyBinding/karmada-compute-deletions"
	hubAddOn    = "system:serviceaccount:karmada-system:karmada-compute"
	breakGlass  = "compute.datumapis.com/break-glass"
)

// cityPolicy returns a PropagationPolicy of a city.
func cityPolicy(namespace, name string) *unstructured.Unstructured {
	policy := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
		"spec": map[string]any{
			"resourceSelectors": []any{map[string]any{"apiVersion": "compute.datumapis.com/v1alpha", "kind": "WorkloadDeployment"}},
		},
	}}
	policy.SetNamespace(namespace)
	policy.SetName(name)
	policy.SetLabels(map[string]string{"topology.datum.net/city-code": "dfw"})
	return policy
}

func hubCopy(namespace, name string) *unstructured.Unstructured {
	copied := cellObject("WorkloadDeployment", namespace, name)
	copied.SetLabels(map[string]string{"compute.datumapis.com/workload-deployment-uid": "u"})
	return copied
}

// TestDeletionsOnTheHub: objects whose deletion stops a city can be deleted by the add-on and Kubernetes only, or with
// a reason.
func TestDeletionsOnTheHub(t *testing.T) {
	// A hub namespace: elsewhere another policy refuses the add-on.
	const namespace = "ns-00000000-0000-4000-8000-00000000d010"
	admin := newClient(t)
	ensureNamespace(t, admin, namespace)
	label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+v1alpha.LabelProject+`":"cluster-north"}}}`))
	if err := admin.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, label); err != nil {
		t.Fatal(err)
	}
	objects := render(t, parts["hub"])
	for _, name := range []string{deletions, deletionsOn} {
		applied := find(objects, name).DeepCopy()
		if name == deletions {
			// A failing expression would admit the request, which would hide a fault of the expression.
			setField(t, applied, "Fail", "spec", "failurePolicy")
		}
		t.Cleanup(func() { unregister(t, admin, applied) })
		if err := admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied.DeepCopy()),
			client.ForceOwnership, client.FieldOwner("charts-test")); err != nil {
			t.Fatal(err)
		}
	}
	awaitInForce(t, admin)
	operator := as(t, "an-operator")
	create := func(object *unstructured.Unstructured) *unstructured.Unstructured {
		t.Helper()
		if err := admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	for _, object := range []*unstructured.Unstructured{
		hubCopy(namespace, "web"), cityPolicy(namespace, "city-dfw"), cityPolicy(namespace, "independent-city-dfw"),
	} {
		create(object)
		err := operator.Delete(t.Context(), object.DeepCopy())
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), breakGlass) || !strings.Contains(err.Error(), "change the Workload") {
			t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
		for _, user := range []string{
			hubAddOn, "system:serviceaccount:kube-system:generic-garbage-collector", "system:serviceaccount:kube-system:namespace-controller",
		} {
			if err := as(t, user).Delete(t.Context(), object.DeepCopy(), client.DryRunAll); err != nil {
				t.Errorf("%s may not delete %s %s: %v", user, object.GetKind(), object.GetName(), err)
			}
		}
	}
	checkWithReason(t, operator, namespace)

	// Objects of others.
	for _, object := range []*unstructured.Unstructured{
		cellObject("WorkloadDeployment", namespace, "of-a-project"), cityPolicy(namespace, "somebody-elses"),
	} {
		create(object)
		if err := operator.Delete(t.Context(), object); err != nil {
			t.Errorf("%s: %v", object.GetName(), err)
		}
	}
}

// checkWithReason checks that a collection is not deleted, and that single objects are once they have a reason.
func checkWithReason(t *testing.T, operator client.Client, namespace string) {
	t.Helper()
	collection := hubCopy(namespace, "")
	if err := operator.DeleteAllOf(t.Context(), collection, client.InNamespace(namespace)); !apierrors.IsForbidden(err) {
		t.Errorf("a collection is deleted: %v", err)
	}
	because := func(reason string) client.Patch {
		return client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+breakGlass+`":"`+reason+`"}}}`))
	}
	blank := hubCopy(namespace, "web")
	if err := operator.Patch(t.Context(), blank, because(" ")); err != nil {
		t.Fatal(err)
	}
	if err := operator.Delete(t.Context(), blank); !apierrors.IsForbidden(err) {
		t.Errorf("a blank reason: %v", err)
	}
	patch := because("the city is closed")
	for _, object := range []*unstructured.Unstructured{hubCopy(namespace, "web"), cityPolicy(namespace, "city-dfw")} {
		if err := operator.Patch(t.Context(), object, patch); err != nil {
			t.Fatal(err)
		}
		if err := operator.Delete(t.Context(), object); err != nil {
			t.Errorf("with a reason: %v", err)
		}
	}
}
