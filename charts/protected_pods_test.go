// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/testenv"
)

const (
	podPolicy   = "ValidatingAdmissionPolicy/karmada-compute-cell-pods"
	podPolicyOn = "ValidatingAdmissionPolicyBinding/karmada-compute-cell-pods"
)

// readyPod creates a Ready Pod of an Instance that a budget protects, on a node, so that it ends with its grace period.
func readyPod(t *testing.T, c client.Client, namespace, name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
			"compute.datumapis.com/protected": "true", "compute.datumapis.com/workload-name": "web",
		}},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "app", Image: "example.com/app"}}},
	}
	for _, change := range changes {
		change(pod)
	}
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	if pod.Labels["ready"] != "" {
		status.Conditions[0].Status = corev1.ConditionStatus(pod.Labels["ready"])
	}
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	pod.Status = status
	if err := c.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// protectPods puts the policy of Pods into the API server as a cell has it, and waits until it is in force.
func protectPods(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	objects := render(t, parts["hub"])
	for _, object := range []string{podPolicy, podPolicyOn} {
		applied := inCell(t, objects, object)
		if object == podPolicy {
			// A failing expression would admit the request, which would hide a fault of the expression.
			setField(t, applied, "Fail", "spec", "failurePolicy")
		}
		t.Cleanup(func() { unregister(t, c, applied) })
		if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied.DeepCopy()), client.ForceOwnership,
			client.FieldOwner("charts-test")); err != nil {
			t.Fatal(err)
		}
	}
	awaitInForce(t, c)
}

// TestProtectedPods: a Pod that counts for a disruption budget can be evicted and not deleted, unless Kubernetes or the
// agent deletes it, or the break-glass annotation is set.
func TestProtectedPods(t *testing.T) {
	c := newClient(t)
	namespace := testenv.Namespace(t, c, "pods").Name
	protectPods(t, c, namespace)
	other := as(t, cellAdmin)
	pod := readyPod(t, c, namespace, "web-0")

	want := "the disruption budget of Workload web protects pods/web-0, and user somebody may not delete it: evict it " +
		"instead, with kubectl drain or the Eviction API"
	for what, options := range map[string][]client.DeleteOption{
		"plainly": nil, "by force": {client.GracePeriodSeconds(0)}, "as a trial": {client.DryRunAll},
	} {
		if err := other.Delete(t.Context(), pod.DeepCopy(), options...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("deleted %s: got %v, want %q", what, err, want)
		}
	}
	if err := other.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(namespace)); err == nil ||
		!strings.Contains(err.Error(), "evict it instead") {
		t.Errorf("deletecollection: %v", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.DeletionTimestamp != nil {
		t.Errorf("after deletecollection: %v, %v", pod.DeletionTimestamp, err)
	}
	for who, user := range map[string][]string{
		"the agent": {cellAgent}, "garbage collector": {"system:serviceaccount:kube-system:generic-garbage-collector"},
		"namespace controller": {"system:serviceaccount:kube-system:namespace-controller"}, "Karmada": {karmadaPulled},
		"Pod garbage collector":   {"system:serviceaccount:kube-system:pod-garbage-collector"},
		"kube-controller-manager": {"system:kube-controller-manager"},
		"taint eviction":          {"system:serviceaccount:kube-system:node-controller"}, "preemption": {"system:kube-scheduler"},
		"a kubelet": {"system:node:a", "system:nodes"}, "an emergency": {cellAdmin, emergency},
	} {
		if err := as(t, user[0], user[1:]...).Delete(t.Context(), pod.DeepCopy(), client.DryRunAll); err != nil {
			t.Errorf("%s: %v", who, err)
		}
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod.Name}}
	if err := other.SubResource("eviction").Create(t.Context(), pod.DeepCopy(), eviction, client.DryRunAll); err != nil {
		t.Errorf("eviction: %v", err)
	}

	// Nothing ends a namespace here, so it stays Terminating.
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	await(t, "a Pod of a namespace that ends cannot be deleted", func() bool {
		return other.Delete(t.Context(), pod.DeepCopy(), client.DryRunAll) == nil
	})
}

// TestUnprotectedPods: a Pod that does not count for a budget may be deleted, and any Pod in an emergency.
func TestUnprotectedPods(t *testing.T) {
	c := newClient(t)
	namespace := testenv.Namespace(t, c, "free").Name
	protectPods(t, c, namespace)
	other := as(t, cellAdmin)
	free := map[string]func(*corev1.Pod){
		"without-a-budget": func(p *corev1.Pod) { delete(p.Labels, "compute.datumapis.com/protected") },
		"not-ready":        func(p *corev1.Pod) { p.Labels["ready"] = "False" },
		"glass-is-broken": func(p *corev1.Pod) {
			p.Annotations = map[string]string{"compute.datumapis.com/break-glass": "it serves wrong data"}
		},
	}
	for name, change := range free {
		if err := other.Delete(t.Context(), readyPod(t, c, namespace, name, change)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	empty := readyPod(t, c, namespace, "no-reason", func(p *corev1.Pod) {
		p.Annotations = map[string]string{"compute.datumapis.com/break-glass": " "}
	})
	if err := other.Delete(t.Context(), empty); !apierrors.IsForbidden(err) {
		t.Errorf("break-glass without a reason: %v", err)
	}

	ending := readyPod(t, c, namespace, "ending")
	if err := as(t, cellAgent).Delete(t.Context(), ending.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if err := other.Delete(t.Context(), ending, client.GracePeriodSeconds(0)); err != nil {
		t.Errorf("a Pod that is being deleted: %v", err)
	}
}
