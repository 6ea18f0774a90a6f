// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// releaseAfter is how long the node of an evicted Pod that does not respond may take to respond again. The grace period
// of the Pod does not count: no kubelet hears of it.
const releaseAfter = 10 * time.Second

// nodeLossTolerations returns how long a Pod stays on a node that is lost: forever if its Instance waits for the node.
func (s *Settings) nodeLossTolerations(spec *v1alpha.InstanceSpec) []corev1.Toleration {
	var seconds *int64
	if spec.OnNodeLoss != v1alpha.NodeLossWait {
		seconds = new(int64(s.NodeLossAfter / time.Second))
	}
	var tolerations []corev1.Toleration
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerations = append(tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: seconds,
		})
	}
	return tolerations
}

// spreadConstraints spread the Instances of a deployment over nodes and zones, where that is possible: the loss of one
// takes as few as possible.
func spreadConstraints(deployment string) []corev1.TopologySpreadConstraint {
	var constraints []corev1.TopologySpreadConstraint
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		constraints = append(constraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha.LabelDeploymentName: deployment}},
		})
	}
	return constraints
}

// releaseLostPod deletes a Pod whose node does not confirm that it has stopped, unless the Instance waits for that. The
// event of its deletion requeues the Instance.
func (s *scope) releaseLostPod(ctx context.Context) error {
	if s.pod == nil || s.instance.Spec.OnNodeLoss == v1alpha.NodeLossWait {
		return nil
	}
	due, lost := releaseTime(s.pod)
	if !lost {
		return nil
	}
	if remaining := due.Sub(s.Clock.Now()); remaining > 0 {
		s.RequeueAfter.AtMost(remaining)
		return nil
	}
	// A kubelet that responds again changes the Pod.
	unchanged := client.Preconditions{UID: &s.pod.UID, ResourceVersion: &s.pod.ResourceVersion}
	err := s.Client.Delete(ctx, s.pod, unchanged, client.GracePeriodSeconds(0))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // the event of the change requeues the Instance
	}
	if err != nil {
		return fmt.Errorf("delete Pod %s, whose node %s is lost: %w", client.ObjectKeyFromObject(s.pod), s.pod.Spec.NodeName, err)
	}
	log.FromContext(ctx).Info("Deleted a Pod whose node does not respond", "node", s.pod.Spec.NodeName)
	return nil
}

// releaseTime returns when a Pod is deleted without an answer of its node, and whether there is a sign that the node is
// lost. One sign may be of a node that is only slow, and counts after lostAfter.
func releaseTime(pod *corev1.Pod) (time.Time, bool) {
	if pod.DeletionTimestamp.IsZero() || pod.Spec.NodeName == "" {
		return time.Time{}, false
	}
	target := podCondition(pod, corev1.DisruptionTarget)
	tainted := target.Status == corev1.ConditionTrue && target.Reason == byTaint
	switch unheard := unheard(pod); {
	case tainted && unheard:
		grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second
		return pod.DeletionTimestamp.Add(releaseAfter - grace), true
	case tainted || unheard:
		return pod.DeletionTimestamp.Add(lostAfter), true
	}
	return time.Time{}, false
}

// byTaint is the reason of condition DisruptionTarget of a Pod that is evicted because of a taint of its node.
const byTaint = "DeletionByTaintManager"

// unheard reports whether Kubernetes' node controller has taken Ready from a Pod whose containers were all ready when
// the node reported last. A kubelet that responds corrects that.
func unheard(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && len(pod.Spec.ReadinessGates) == 0 &&
		podCondition(pod, corev1.PodReady).Status == corev1.ConditionFalse &&
		podCondition(pod, corev1.ContainersReady).Status == corev1.ConditionTrue
}
