// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// dropGone drops the reports when the city has no cell left and no Instance is assigned to any: the cells that reported
// are lost permanently, and Karmada keeps their last report.
func (s *facts) dropGone(context.Context) error {
	assignment := s.copied.Spec.Assignment
	if assignment == nil || len(assignment.Cells) > 0 {
		return nil
	}
	if len(s.row.Cells.Of(s.deployment.Spec.CityCode)) == 0 {
		s.dropped, s.findings = true, nil
		s.copied.Status, s.reported = v1alpha.WorkloadDeploymentStatus{}, nil
	}
	return nil
}
