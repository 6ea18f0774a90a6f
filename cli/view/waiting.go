// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Waiting has the columns of Instances of one city that wait for capacity.
type Waiting struct {
	Namespace string `json:"namespace"`
	Workload  string `json:"workload"`
	City      string `json:"city"`
	// Instances is how many wait.
	Instances int32 `json:"instances"`
	// Reason is NoCapacity, CellsTainted or Unschedulable: without a cell, or without a node of their cell.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Since is when the first of them began to wait.
	Since metav1.Time `json:"since"`
	// NextTry is when they are scheduled again.
	NextTry string `json:"nextTry"`
}

// nextTries are the events at which Instances are scheduled again, by the reason why they wait.
var nextTries = map[string]string{
	v1alpha.ReasonNoCapacity:    "a cell has more room, or 17m",
	v1alpha.ReasonCellsTainted:  "a taint is removed",
	v1alpha.ReasonUnschedulable: "waits for a node",
}

// ReadWaiting reads which Instances of the selected Workloads wait for capacity, first the ones that have waited
// longest.
func ReadWaiting(ctx context.Context, project client.Reader, options ...client.ListOption) ([]Waiting, error) {
	workloads, deployments, err := readSelected(ctx, project, options)
	if err != nil || len(workloads) == 0 {
		return nil, err
	}
	instances := &v1alpha.InstanceList{}
	if err := project.List(ctx, instances, withoutSelector(options)...); err != nil {
		return nil, err
	}

	selected := map[types.UID]bool{}
	for i := range workloads {
		selected[workloads[i].UID] = true
	}
	var result []Waiting
	for i := range deployments {
		if waiting, waits := withoutCell(&deployments[i]); waits && selected[deployments[i].Spec.WorkloadRef.UID] {
			result = append(result, waiting)
		}
	}
	result = append(result, withoutNode(slices.DeleteFunc(instances.Items, func(i v1alpha.Instance) bool {
		return !selected[types.UID(i.Labels[v1alpha.LabelWorkloadUID])]
	}))...)
	slices.SortFunc(result, func(a, b Waiting) int {
		return cmp.Or(a.Since.Compare(b.Since.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Workload, b.Workload),
			cmp.Compare(a.City, b.City), cmp.Compare(a.Reason, b.Reason))
	})
	return result, nil
}

// withoutCell returns the Instances of a deployment for which Karmada has found no cell. It returns false if each has one.
func withoutCell(d *v1alpha.WorkloadDeployment) (Waiting, bool) {
	condition := meta.FindStatusCondition(d.Status.Conditions, v1alpha.ConditionScheduled)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return Waiting{}, false
	}
	return Waiting{
		Namespace: d.Namespace, Workload: d.Spec.WorkloadRef.Name, City: d.Spec.CityCode,
		Reason: condition.Reason, Message: condition.Message,
		Instances: max(1, d.Status.DesiredReplicas-d.Status.AssignedReplicas), Since: condition.LastTransitionTime,
		NextTry: nextTries[condition.Reason],
	}, true
}

// withoutNode returns the Instances for which the scheduler of their cell has found no node, by Workload and city.
func withoutNode(instances []v1alpha.Instance) []Waiting {
	found := map[[3]string]*Waiting{}
	var order [][3]string
	for i := range instances {
		ready := meta.FindStatusCondition(instances[i].Status.Conditions, v1alpha.ConditionReady)
		if ready == nil || ready.Reason != v1alpha.ReasonUnschedulable {
			continue
		}
		labels := instances[i].Labels
		key := [3]string{instances[i].Namespace, labels[v1alpha.LabelWorkloadName], labels[v1alpha.LabelCityCode]}
		if found[key] == nil {
			order = append(order, key)
			found[key] = &Waiting{
				Namespace: key[0], Workload: key[1], City: key[2], Reason: ready.Reason, Message: ready.Message,
				Since: ready.LastTransitionTime, NextTry: nextTries[ready.Reason],
			}
		}
		waiting := found[key]
		waiting.Instances++
		if ready.LastTransitionTime.Before(&waiting.Since) {
			waiting.Since = ready.LastTransitionTime
		}
	}
	var result []Waiting
	for _, key := range order {
		result = append(result, *found[key])
	}
	return result
}

// WaitingTable shows the Instances that wait.
func WaitingTable(queue []Waiting, now time.Time) [][]string {
	rows := [][]string{{"NAMESPACE", "WORKLOAD", "CITY", "INSTANCES", "REASON", "WAITS", "NEXT TRY"}}
	for i := range queue {
		waiting := &queue[i]
		rows = append(rows, []string{
			waiting.Namespace, waiting.Workload, strings.ToUpper(waiting.City), strconv.Itoa(int(waiting.Instances)), waiting.Reason,
			duration.HumanDuration(now.Sub(waiting.Since.Time)), waiting.NextTry,
		})
	}
	return rows
}
