// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
)

// addFloor reports of a deployment with a disruption budget which floor is in force, and how many Instances count.
func (s *scope) addFloor(ctx context.Context) error {
	budget, key := &policyv1.PodDisruptionBudget{}, client.ObjectKeyFromObject(s.deployment)
	if err := s.client.Get(ctx, key, budget); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get PodDisruptionBudget %s: %w", key, err)
	}
	floor := disruption.InForce(budget)
	if floor == nil || !metav1.IsControlledBy(budget, s.deployment) {
		return nil
	}
	indices := &s.reports.Status.Indices[0]
	indices.FloorSequence = s.reportedFloor()
	// The budget has the sequence, and not the deployment: that may be a newer one, whose floor is not in force yet. Until
	// Kubernetes has processed a change it refuses all evictions, so that the floor before holds.
	if disruption.IsEnforced(budget) {
		indices.FloorSequence = floor.Sequence
	}
	indices.Available = s.available(budget)
	awaiting, err := s.awaiting(ctx)
	indices.AwaitingDisruption = awaiting
	return err
}

// available is how many Available Instances count for the hub. The caches of Instances and of budgets are not in order:
// an Instance that was evicted under an earlier floor may still be Available in the first, and is not healthy in the
// second.
func (s *scope) available(budget *policyv1.PodDisruptionBudget) int32 {
	count := s.reports.Status.AvailableReplicas
	if budget.Status.ExpectedPods == 0 && !slices.ContainsFunc(s.instances,
		func(i v1alpha.Instance) bool { return i.Spec.Runtime.Class == "" }) {
		// Another runtime runs them without Pods.
		return count
	}
	return min(count, budget.Status.CurrentHealthy)
}

// awaiting is how many Available Instances a voluntary disruption waits for.
func (s *scope) awaiting(ctx context.Context) (int32, error) {
	cordoned, err := s.onCordonedNodes(ctx)
	if err != nil {
		return 0, err
	}
	return s.reports.summary.awaiting(s.deployment, cordoned), nil
}

// onCordonedNodes are the names of the Instances whose nodes are cordoned.
func (s *scope) onCordonedNodes(ctx context.Context) (map[string]bool, error) {
	cordoned, _, err := disruption.CordonedNodes(ctx, s.client)
	if err != nil || len(cordoned) == 0 {
		return nil, err
	}
	var pods corev1.PodList
	if err := s.client.List(ctx, &pods, client.InNamespace(s.deployment.Namespace),
		client.MatchingLabels{v1alpha.LabelDeploymentName: s.deployment.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the Pods of WorkloadDeployment %s: %w", client.ObjectKeyFromObject(s.deployment), err)
	}
	names := map[string]bool{}
	for i := range pods.Items {
		if cordoned[pods.Items[i].Spec.NodeName] {
			names[pods.Items[i].Name] = true
		}
	}
	return names, nil
}

// reportedFloor is the sequence of the floor that the status reports.
func (s *scope) reportedFloor() int64 {
	if indices := s.deployment.Status.Indices; len(indices) == 1 {
		return indices[0].FloorSequence
	}
	return 0
}

// floorChanged reports whether another floor is in force than the status reports.
func (s *scope) floorChanged() bool {
	return s.reportedFloor() != s.reports.Status.Indices[0].FloorSequence
}

// floorEvents drops events of budgets that do not change the report.
func floorEvents() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isBudget := e.ObjectOld.(*policyv1.PodDisruptionBudget)
		after, stillIs := e.ObjectNew.(*policyv1.PodDisruptionBudget)
		return isBudget && stillIs && (before.Status.CurrentHealthy != after.Status.CurrentHealthy ||
			disruption.IsEnforced(before) != disruption.IsEnforced(after) ||
			before.Annotations[v1alpha.AnnotationFloorSequence] != after.Annotations[v1alpha.AnnotationFloorSequence])
	}}
}

// onNode are the deployments with Pods on a Node: a deployment with a budget reports how many of its Pods wait for the
// drain.
func onNode(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, node client.Object) []reconcile.Request {
		var pods corev1.PodList
		if err := reader.List(ctx, &pods, client.MatchingLabels{v1alpha.LabelProtected: v1alpha.ProtectedTrue},
			client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).Error(err, "Failed to list the Pods of a Node; deployments do not report that they wait for its drain", "node",
				node.GetName())
			return nil
		}
		var requests []reconcile.Request
		for i := range pods.Items {
			pod := &pods.Items[i]
			request := reconcile.Request{
				NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[v1alpha.LabelDeploymentName]},
			}
			if pod.Spec.NodeName == node.GetName() && !slices.Contains(requests, request) {
				requests = append(requests, request)
			}
		}
		return requests
	}
}
