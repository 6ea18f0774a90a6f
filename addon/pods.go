// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podFault returns why a Pod of a Deployment does not exist or does not run, in Kubernetes' words; "": they are not known.
func (p *plane) podFault(ctx context.Context, d *appsv1.Deployment) string {
	for i := range d.Status.Conditions {
		if c := &d.Status.Conditions[i]; c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("%s: %s", c.Reason, c.Message)
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return ""
	}
	pods := &corev1.PodList{}
	// Without the right to read Pods, the numbers of the Deployment must do.
	if err := p.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return ""
	}
	for i := range pods.Items {
		if fault := faultOf(&pods.Items[i]); fault != "" && pods.Items[i].DeletionTimestamp == nil {
			return fmt.Sprintf("Pod %s: %s", pods.Items[i].Name, fault)
		}
	}
	return ""
}

// faultOf returns why a Pod does not run; "": it runs, or it starts.
func faultOf(p *corev1.Pod) string {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("%s: %s", c.Reason, c.Message)
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		waiting := c.State.Waiting
		if waiting == nil || waiting.Message == "" {
			continue
		}
		fault := fmt.Sprintf("%s: %s", waiting.Reason, waiting.Message)
		if ended := c.LastTerminationState.Terminated; ended != nil {
			fault += fmt.Sprintf(" (exit code %d, %s)", ended.ExitCode, ended.Reason)
		}
		return fault
	}
	return ""
}
