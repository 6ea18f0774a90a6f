// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// disruption requires exactly one of minAvailable and maxUnavailable, each a number or a percentage.
func (p *problems) disruption(at place, of *v1alpha.WorkloadDisruption) {
	switch {
	case of == nil:
	case of.MinAvailable != nil && of.MaxUnavailable != nil:
		p.forbidden(at.child("maxUnavailable"), of.MaxUnavailable.String(), "set minAvailable or maxUnavailable, not both")
	case of.MinAvailable != nil:
		p.budget(at.child("minAvailable"), of.MinAvailable)
	case of.MaxUnavailable != nil:
		p.budget(at.child("maxUnavailable"), of.MaxUnavailable)
	default:
		p.required(at, "set minAvailable or maxUnavailable, or remove the field")
	}
}

// budget requires a number of Instances, or a percentage from 0% to 100%.
func (p *problems) budget(at place, of *intstr.IntOrString) {
	percent := strings.TrimSuffix(of.StrVal, "%")
	value, err := strconv.Atoi(percent)
	switch {
	case of.Type == intstr.Int && of.IntVal < 0:
		p.invalid(at, of.IntVal, "must not be negative")
	case of.Type == intstr.String && (err != nil || percent == of.StrVal || value < 0 || value > 100 || len(percent) > 3):
		p.invalid(at, of.StrVal, "must be a number, or a percentage from 0% to 100%")
	}
}

// disruptionWarning warns of a budget that allows no voluntary disruption. Kubernetes admits such a PodDisruptionBudget as well.
func disruptionWarning(workload *v1alpha.Workload) []string {
	of := workload.Spec.Disruption
	if of == nil {
		return nil
	}
	var desired int32
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		// The number of cities that a selector selects is not known here.
		desired += int32(max(1, len(placement.CityCodes)+len(placement.Locations))) * placement.ScaleSettings.MinReplicas //nolint:gosec // at most 48 cities
		if placement.LocationSelector != nil || placement.ScaleSettings.MaxReplicas != nil {
			return nil
		}
	}
	if desired == 0 || budget.Minimum(of, desired) < desired {
		return nil
	}
	return []string{fmt.Sprintf("spec.disruption: the budget needs all %d Instances, so that no voluntary disruption is possible: "+
		"nodes of the cells cannot be drained; set minAvailable below the number of Instances, or maxUnavailable above 0", desired)}
}
