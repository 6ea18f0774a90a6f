// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"maps"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// surge are the additional Instances of the deployment, in the cell that has some already, else in the one with the
// largest share.
func (s *scope) surge(current *v1alpha.WorkloadDeploymentAssignment, shares map[string]int) surge {
	spec := &s.deployment.Spec
	if spec.Surge == 0 || spec.Autoscaled() {
		return surge{}
	}
	result := surge{count: int(spec.Surge)}
	if p := spec.Partition; p != nil && p.Index <= naming.MaxIndex {
		result.from = int(p.Index)
	}
	more := func(cell string) int {
		if current == nil {
			return 0
		}
		return len(naming.Assigned(current, cell)) - shares[cell]
	}
	for _, cell := range slices.Sorted(maps.Keys(shares)) {
		switch best := result.cell; {
		case shares[cell] == 0:
		case best == "", more(cell) > more(best), more(cell) == more(best) && shares[cell] > shares[best]:
			result.cell = cell
		}
	}
	if result.cell == "" {
		return surge{}
	}
	return result
}
