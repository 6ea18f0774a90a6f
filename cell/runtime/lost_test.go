// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestNodeLossTolerations: Kubernetes evicts the Pods of a lost node after a while, except for Instances that wait for
// it.
func TestNodeLossTolerations(t *testing.T) {
	instance, settings := sandbox(v1alpha.SandboxContainer{Name: "app"}), &Settings{NodeLossAfter: 42 * time.Second}
	for policy, want := range map[v1alpha.NodeLossPolicy]int64{"": 42, v1alpha.NodeLossReplace: 42, v1alpha.NodeLossWait: -1} {
		instance.Spec.OnNodeLoss = policy
		keys := map[string]int64{}
		for _, toleration := range desiredPod(instance, settings).Spec.Tolerations {
			keys[toleration.Key] = -1
			if toleration.TolerationSeconds != nil {
				keys[toleration.Key] = *toleration.TolerationSeconds
			}
			if toleration.Effect != corev1.TaintEffectNoExecute {
				t.Errorf("policy %q: a Pod tolerates %+v: it would be scheduled to such a node", policy, toleration)
			}
		}
		if len(keys) != 2 || keys[corev1.TaintNodeUnreachable] != want || keys[corev1.TaintNodeNotReady] != want {
			t.Errorf("policy %q: a Pod stays for %v s", policy, keys)
		}
	}
}

// TestSpread: Pods of a deployment are spread over zones and nodes, and are scheduled where that is not possible, too.
func TestSpread(t *testing.T) {
	constraints := desiredPod(sandbox(v1alpha.SandboxContainer{Name: "app"}), &Settings{}).Spec.TopologySpreadConstraints
	if len(constraints) != 2 || constraints[0].TopologyKey != corev1.LabelTopologyZone || constraints[1].TopologyKey != corev1.LabelHostname {
		t.Fatalf("constraints %+v", constraints)
	}
	for _, constraint := range constraints {
		if constraint.WhenUnsatisfiable != corev1.ScheduleAnyway || constraint.LabelSelector.MatchLabels[v1alpha.LabelDeploymentName] != "web" {
			t.Errorf("constraint %+v", constraint)
		}
	}
}

// TestReleaseTime: a Pod is deleted without an answer of its node only if the node is known to be lost.
func TestReleaseTime(t *testing.T) {
	const grace = 300
	tainted := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager",
		})
	}
	drained := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI",
		})
	}
	unheard := func(p *corev1.Pod) {
		with(corev1.PodReady, corev1.ConditionFalse, "")(p)
		with(corev1.ContainersReady, corev1.ConditionTrue, "")(p)
	}
	stopped := func(p *corev1.Pod) {
		with(corev1.PodReady, corev1.ConditionFalse, "")(p)
		with(corev1.ContainersReady, corev1.ConditionFalse, "")(p)
	}
	stopping := func(p *corev1.Pod) {
		deletedPod(p)
		p.DeletionGracePeriodSeconds = new(int64(grace))
	}
	never := time.Time{}
	for name, test := range map[string]struct {
		changes []func(*corev1.Pod)
		want    time.Time
	}{
		"evicted from a node that is not heard": {[]func(*corev1.Pod){onNode, stopping, tainted, unheard}, now.Add((10 - grace) * time.Second)},
		"evicted from a node that is heard":     {[]func(*corev1.Pod){onNode, stopping, tainted, stopped}, now.Add(time.Minute)},
		"deleted on a node that is not heard":   {[]func(*corev1.Pod){onNode, stopping, unheard}, now.Add(time.Minute)},
		"drained":                               {[]func(*corev1.Pod){onNode, stopping, drained, stopped}, never},
		"deleted":                               {[]func(*corev1.Pod){onNode, stopping, stopped}, never},
		"not deleted":                           {[]func(*corev1.Pod){onNode, tainted, unheard}, never},
		"not on a node":                         {[]func(*corev1.Pod){stopping, tainted, unheard}, never},
	} {
		t.Run(name, func(t *testing.T) {
			due, lost := releaseTime(pod(corev1.PodRunning, test.changes...))
			if lost == test.want.IsZero() || !due.Equal(test.want) {
				t.Errorf("it is released at %v (%t), want %v", due, lost, test.want)
			}
		})
	}
}
