// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
)

// earlierRequeue is when a namespace is reconciled again that still has the policy of an earlier version: cell/runtime labels
// Pods, which is no event for a deployment.
const earlierRequeue = 2 * time.Second

// earlierRules are the rules that earlier versions gave the policy of a namespace: it admitted the whole project, whatever its
// networks.
func earlierRules(projectUID string) []networkingv1.NetworkPolicyIngressRule {
	from := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}}
	if projectUID != "" {
		from = networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{v1alpha.LabelProjectUID: projectUID},
		}}
	}
	return []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{from}}}
}

// earlierNeeded reports whether the namespace of a deployment has the policy of an earlier version, and a Pod would be cut off from
// its network without it.
func earlierNeeded(ctx context.Context, c client.Client, deployment *v1alpha.WorkloadDeployment) (bool, error) {
	policy, uid := &networkingv1.NetworkPolicy{}, deployment.Labels[v1alpha.LabelProjectUID]
	key := client.ObjectKey{Namespace: deployment.Namespace, Name: NamespacePolicy}
	if err := c.Get(ctx, key, policy); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return false, nil
		}
		return false, fmt.Errorf("get network policy %s: %w", key, err)
	}
	if !equality.Semantic.DeepEqual(policy.Spec.Ingress, earlierRules(uid)) {
		return false, nil
	}
	options := []client.ListOption{client.UnsafeDisableDeepCopy, client.InNamespace(deployment.Namespace)}
	if uid != "" {
		options[1] = client.MatchingLabels{v1alpha.LabelProjectUID: uid}
	}
	var deployments v1alpha.WorkloadDeploymentList
	if err := c.List(ctx, &deployments, options...); err != nil {
		return false, fmt.Errorf("list the WorkloadDeployments of project %q: %w", uid, err)
	}
	for i := range deployments.Items {
		from := &deployments.Items[i]
		if ready, err := selectable(ctx, c, from, from.Namespace == deployment.Namespace); err != nil || !ready {
			return !ready, err
		}
	}
	return false, nil
}

// selectable reports whether the Pods of a deployment have the labels by which policies select them, and, if policies is true,
// the policies of their templates.
func selectable(ctx context.Context, c client.Client, deployment *v1alpha.WorkloadDeployment, policies bool) (bool, error) {
	instances, err := owned.Instances(ctx, c, deployment)
	if err != nil {
		return false, err
	}
	for i := range instances {
		instance, pod := &instances[i], &corev1.Pod{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(instance), pod); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("get Pod %s: %w", client.ObjectKeyFromObject(instance), err)
		}
		// A terminating Pod gets no labels any more.
		if !metav1.IsControlledBy(pod, instance) || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		if !Selectable(pod, PodLabels(deployment, instance)) {
			return false, nil
		}
		policy := templatePolicy(deployment, instance.TemplateHash(), &instance.Spec)
		if !policies || policy == nil || instance.TemplateHash() == "" {
			continue
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(policy), &networkingv1.NetworkPolicy{}); err != nil {
			return false, client.IgnoreNotFound(err)
		}
	}
	return true, nil
}

// Selectable reports whether a Pod has labels, each with its value.
func Selectable(pod *corev1.Pod, labels map[string]string) bool {
	for name, value := range labels {
		if found, ok := pod.Labels[name]; !ok || found != value {
			return false
		}
	}
	return true
}
