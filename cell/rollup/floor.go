// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/cell/disruption"
)

// addFloor reports which floor is in force. The budget has its sequence: the deployment in the cache may be newer, and then this is not
// its floor yet.
func (s *scope) addFloor(ctx context.Context) error {
	budget, key := &policyv1.PodDisruptionBudget{}, client.ObjectKeyFromObject(s.deployment)
	if err := s.client.Get(ctx, key, budget); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get PodDisruptionBudget %s: %w", key, err)
	}
	if budget.UID == "" || !metav1.IsControlledBy(budget, s.deployment) {
		return nil
	}
	sequence, settled := disruption.InForce(budget)
	if !settled {
		// Kubernetes refuses evictions until it has processed the change.
		sequence = s.reportedFloor()
	}
	s.reports.Status.Indices[0].FloorSequence = sequence
	return nil
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

// floorEvents drops events of budgets that do not change which floor is in force.
func floorEvents() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isBudget := e.ObjectOld.(*policyv1.PodDisruptionBudget)
		after, stillIs := e.ObjectNew.(*policyv1.PodDisruptionBudget)
		if !isBudget || !stillIs {
			return false
		}
		sequenceBefore, settledBefore := disruption.InForce(before)
		sequence, settled := disruption.InForce(after)
		return sequence != sequenceBefore || settled != settledBefore
	}}
}
