// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestLostNode: a Pod that Kubernetes evicts from a node that does not respond is deleted without its answer, unless
// its Instance waits for that; and another Pod is created.
func TestLostNode(t *testing.T) {
	evicted := []corev1.PodCondition{
		{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: corev1.ConditionFalse},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"},
	}
	for name, test := range map[string]struct {
		policy     v1alpha.NodeLossPolicy
		conditions []corev1.PodCondition
		passed     time.Duration
		want       string
	}{
		"by default":                {"", evicted, 10 * time.Second, "another Pod"},
		"before it may be restored": {"", evicted, 8 * time.Second, "the same Pod"},
		"that heard of the eviction": {
			"",
			[]corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}, evicted[1], evicted[2]},
			30 * time.Second, "the same Pod",
		},
		"for which it waits": {v1alpha.NodeLossWait, evicted, time.Hour, "the same Pod"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			instance := f.instance(f.deployment(1), 0, func(i *v1alpha.Instance) { i.Spec.OnNodeLoss = test.policy })
			pod := f.pod(instance, func(p *corev1.Pod) { p.Spec.NodeName = "node" })
			f.setPod(pod, corev1.PodStatus{Phase: corev1.PodRunning, Conditions: test.conditions})
			if err := f.direct.Delete(t.Context(), pod, client.GracePeriodSeconds(30)); err != nil {
				t.Fatal(err)
			}
			deleted := f.storedPod(pod.Name).DeletionTimestamp.Add(-30 * time.Second)
			f.clock.SetTime(deleted.Add(test.passed))
			result := f.reconcile(f.runtime(), instance.Name)
			switch found := f.storedPod(pod.Name); {
			case test.want == "another Pod":
				f.reconcile(f.runtime(), instance.Name)
				if found := f.storedPod(pod.Name); found == nil || found.UID == pod.UID {
					t.Errorf("the Pod is %v", found)
				}
			case found == nil || found.UID != pod.UID:
				t.Errorf("the Pod was replaced: %v", found)
			case test.policy == "" && (result.RequeueAfter == 0 || result.RequeueAfter > lateRequeue):
				t.Errorf("the Instance is reconciled again after %s", result.RequeueAfter)
			}
		})
	}
}

// lateRequeue is later than a Pod without an answer is due.
const lateRequeue = 2 * time.Minute
