// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package counts judges the counts of Instances in a status: which of them are impossible, whatever happens in the
// cells.
package counts

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Impossible returns the counts that contradict each other: a count is never higher than the one that it is a part of.
func Impossible(c *v1alpha.ReplicaCounts) []string {
	var found []string
	for _, pair := range []struct {
		part, whole string
		a, b        int32
	}{
		{"currentReplicas", "replicas", c.CurrentReplicas, c.Replicas},
		{"readyReplicas", "replicas", c.ReadyReplicas, c.Replicas},
		{"availableReplicas", "readyReplicas", c.AvailableReplicas, c.ReadyReplicas},
		{"updatedReplicas", "replicas", c.UpdatedReplicas, c.Replicas},
		{"updatedAvailableReplicas", "updatedReplicas", c.UpdatedAvailableReplicas, c.UpdatedReplicas},
		{"updatedAvailableReplicas", "availableReplicas", c.UpdatedAvailableReplicas, c.AvailableReplicas},
		{"0", "desiredReplicas", 0, c.DesiredReplicas},
		{"0", "currentReplicas", 0, c.CurrentReplicas},
		{"0", "updatedAvailableReplicas", 0, c.UpdatedAvailableReplicas},
	} {
		if pair.a > pair.b {
			found = append(found, fmt.Sprintf("%s %d is more than %s %d", pair.part, pair.a, pair.whole, pair.b))
		}
	}
	return found
}

// OfDeployment returns what is impossible in the status of a WorkloadDeployment, of whichever plane.
func OfDeployment(d *v1alpha.WorkloadDeployment) []string {
	status := &d.Status
	found := Impossible(&status.ReplicaCounts)
	var available int32
	for i := range status.Indices {
		of := &status.Indices[i]
		existing := naming.ParseSet(of.Existing)
		for name, indices := range map[string]string{
			"availableIndices": of.AvailableIndices, "ready": of.Ready, "held": of.Held, "current": of.Current,
		} {
			for _, index := range naming.Parse(indices) {
				if !existing.Has(index) {
					found = append(found, fmt.Sprintf("%s of cell %q has Instance %d, which does not exist", name, of.Cell, index))
				}
			}
		}
		available += int32(len(naming.Parse(of.AvailableIndices))) //nolint:gosec // at most 10000
	}
	// The indices are the last report of each cell. While the report is in doubt, the counts leave out what it may hide.
	inDoubt := meta.IsStatusConditionFalse(status.Conditions, v1alpha.ConditionStatusCurrent)
	if !inDoubt && available > status.AvailableReplicas {
		found = append(found, fmt.Sprintf("the cells list %d Available Instances, and availableReplicas is %d", available,
			status.AvailableReplicas))
	}
	return found
}

// OfWorkload returns what is impossible in the status of a Workload: its counts are the sums of its placements' counts.
func OfWorkload(w *v1alpha.Workload) []string {
	found := Impossible(&w.Status.ReplicaCounts)
	var sum v1alpha.ReplicaCounts
	for i := range w.Status.Placements {
		placement := &w.Status.Placements[i]
		for _, one := range Impossible(&placement.ReplicaCounts) {
			found = append(found, "placement "+placement.Name+": "+one)
		}
		sum = sum.Add(placement.ReplicaCounts)
	}
	if sum != w.Status.ReplicaCounts {
		found = append(found, fmt.Sprintf("the counts are %+v, and those of the placements together %+v", w.Status.ReplicaCounts, sum))
	}
	return found
}
