// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cell is the name of the cell that has this deployment, from Karmada's annotation. It is "" for a deployment that Karmada did
// not create.
func (d *WorkloadDeployment) Cell() string {
	cell, found := strings.CutPrefix(d.Annotations[AnnotationWorkNamespace], executionSpacePrefix)
	if !found {
		return ""
	}
	return cell
}

// Owner is the cell that an index is assigned to, or "" if the index is not assigned.
func (a *WorkloadDeploymentAssignment) Owner(index int) string {
	return a.find(index, func(c *CellAssignment) []IndexRange { return c.Indices })
}

// Releaser is the cell that has an index to release, or "" without one.
func (a *WorkloadDeploymentAssignment) Releaser(index int) string {
	return a.find(index, func(c *CellAssignment) []IndexRange { return c.Releasing })
}

func (a *WorkloadDeploymentAssignment) find(index int, ranges func(*CellAssignment) []IndexRange) string {
	for i := range a.Cells {
		for _, r := range ranges(&a.Cells[i]) {
			if index >= int(r.First) && index <= int(r.Last) {
				return a.Cells[i].Name
			}
		}
	}
	return ""
}

// IsLeaving reports whether the cell no longer runs an Instance and has not released all of its indices.
func (c *CellAssignment) IsLeaving() bool {
	return len(c.Indices) == 0 && len(c.Releasing) > 0 && c.LeavingSince != nil
}

// Leaving is the departure of a deployment from a cell that IsLeaving.
func (d *WorkloadDeployment) Leaving(cell *CellAssignment) LeavingDeployment {
	return LeavingDeployment{Namespace: d.Namespace, Name: d.Name, Since: cell.LeavingSince.UTC().Format(metav1.RFC3339Micro)}
}

// Names reports whether the assignment has an entry for a cell.
func (a *WorkloadDeploymentAssignment) Names(cell string) bool {
	return slices.ContainsFunc(a.Cells, func(c CellAssignment) bool { return c.Name == cell })
}
