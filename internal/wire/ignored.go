// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// IgnoredCause is why an entry of a report is ignored.
type IgnoredCause string

// Why entries are ignored.
const (
	// IgnoredIndex is an index that the deployment cannot have, or that is not one of the slice.
	IgnoredIndex IgnoredCause = "UnknownIndex"
	// IgnoredOwner is an index that is assigned to another cell. It includes a moving index until the cell has deleted its
	// Instance.
	IgnoredOwner IgnoredCause = "OtherCell"
	// IgnoredTwice is an index that was reported before.
	IgnoredTwice IgnoredCause = "Repeated"
	// IgnoredState is a state that the report does not have: the Instance is shown without one.
	IgnoredState IgnoredCause = "UnknownState"
)

// IgnoredCauses are all causes.
var IgnoredCauses = []IgnoredCause{IgnoredIndex, IgnoredOwner, IgnoredTwice, IgnoredState}

// Ignored counts the entries on these indices that Instances and InstancesIn ignore in the reports, by the reporting
// cell and by cause. It is nil if no entry is ignored.
func Ignored(d *v1alpha.WorkloadDeployment, reports []v1alpha.InstanceReport, within v1alpha.IndexRange) map[string]map[IgnoredCause]int {
	var result map[string]map[IgnoredCause]int
	seen, own := naming.Set{}, ownershipOf(d)
	for _, report := range reports {
		for _, entry := range report.Instances {
			index := int(entry.Index)
			cause := own.refusal(report.Cell, index)
			switch {
			case entry.Index < within.First || entry.Index > within.Last:
				cause = IgnoredIndex
			case cause == "" && seen.Has(index):
				cause = IgnoredTwice
			case cause == "":
				seen.Add(index, index)
				if entry.State < 0 || int(entry.State) >= len(report.States) {
					cause = IgnoredState
				}
			}
			if cause == "" {
				continue
			}
			if result == nil {
				result = map[string]map[IgnoredCause]int{}
			}
			if result[report.Cell] == nil {
				result[report.Cell] = map[IgnoredCause]int{}
			}
			result[report.Cell][cause]++
		}
	}
	return result
}
