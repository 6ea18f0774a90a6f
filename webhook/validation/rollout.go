// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// Bounds of a rollout.
const (
	maxCities  = 48
	maxHistory = 50
)

func (p *problems) rollout(at place, spec *v1alpha.WorkloadSpec) {
	rollout := spec.Rollout
	if rollout == nil {
		return
	}
	if deadline := rollout.ProgressDeadlineSeconds; deadline != nil && *deadline < 1 {
		p.invalid(at.child("progressDeadlineSeconds"), *deadline, "must be at least 1 second")
	}
	p.amounts(at, rollout)
	within(p, at.child("citiesAtOnce"), rollout.CitiesAtOnce, 1, maxCities)
	within(p, at.child("revisionHistoryLimit"), rollout.RevisionHistoryLimit, 0, maxHistory)
	p.onFailure(at.child("onFailure"), rollout.OnFailure)
	p.cityOrder(at.child("cityOrder"), spec)
	p.onDataChange(at.child("onDataChange"), spec)
}

// amounts checks the numbers and percentages of Instances.
func (p *problems) amounts(at place, rollout *v1alpha.WorkloadRollout) {
	if limit := rollout.MaxUnavailable; limit != nil {
		p.maxUnavailable(at.child("maxUnavailable"), limit)
	}
	if limit := rollout.MaxSurge; limit != nil {
		p.maxSurge(at.child("maxSurge"), limit)
	}
	if rollout.Batch != nil {
		p.maxUnavailable(at.child("batch"), rollout.Batch)
	}
	if after := rollout.PauseAfter; after != nil && (after.Type == intstr.Int || after.StrVal != v1alpha.PauseAfterFirstCity) {
		p.maxUnavailable(at.child("pauseAfter"), after)
	}
}

func (p *problems) maxSurge(at place, limit *intstr.IntOrString) {
	percent, isPercent := strings.CutSuffix(limit.StrVal, "%")
	value, err := strconv.Atoi(percent)
	switch {
	case limit.Type == intstr.Int && (limit.IntVal < 0 || limit.IntVal > maxReplicas):
		p.invalid(at, limit.IntVal, validation.InclusiveRangeError(0, maxReplicas))
	case limit.Type == intstr.String && (err != nil || !isPercent || value < 0 || value > 100 || len(percent) > 3 || percent[0] == '+'):
		p.invalid(at, limit.StrVal, "must be a number, or a percentage from 0% to 100%")
	}
}

func (p *problems) onFailure(at place, policy v1alpha.RolloutFailurePolicy) {
	switch policy {
	case "", v1alpha.RolloutPause, v1alpha.RolloutUndo:
	default:
		p.unsupported(at, string(policy), string(v1alpha.RolloutPause), string(v1alpha.RolloutUndo))
	}
}

// cityOrder requires cities that a placement names. A placement with locations or a selector may have any.
func (p *problems) cityOrder(at place, spec *v1alpha.WorkloadSpec) {
	seen := sets.New[string]()
	open := slices.ContainsFunc(spec.Placements, func(w v1alpha.WorkloadPlacement) bool { return len(w.CityCodes) == 0 })
	for i, code := range spec.Rollout.CityOrder {
		item := at.item(i, strings.ToUpper(code))
		p.unique(item, seen, strings.ToUpper(code))
		named := slices.ContainsFunc(spec.Placements, func(w v1alpha.WorkloadPlacement) bool {
			return slices.ContainsFunc(w.CityCodes, func(city string) bool { return strings.EqualFold(city, code) })
		})
		if !named && !open {
			p.invalid(item, code, "must be a city of spec.placements")
		}
	}
}

// disruption requires exactly one of minAvailable and maxUnavailable, each a number or a percentage.
func (p *problems) disruption(at place, budget *v1alpha.WorkloadDisruption) {
	switch {
	case budget == nil:
	case budget.MinAvailable != nil && budget.MaxUnavailable != nil:
		p.forbidden(at.child("maxUnavailable"), budget.MaxUnavailable.String(), "set minAvailable or maxUnavailable, not both")
	case budget.MinAvailable != nil:
		p.budget(at.child("minAvailable"), budget.MinAvailable)
	case budget.MaxUnavailable != nil:
		p.budget(at.child("maxUnavailable"), budget.MaxUnavailable)
	default:
		p.required(at, "set minAvailable or maxUnavailable, or remove the field")
	}
}

// budget requires a number of Instances, or a percentage from 0% to 100%.
func (p *problems) budget(at place, number *intstr.IntOrString) {
	percent := strings.TrimSuffix(number.StrVal, "%")
	value, err := strconv.Atoi(percent)
	switch {
	case number.Type == intstr.Int && number.IntVal < 0:
		p.invalid(at, number.IntVal, "must not be negative")
	case number.Type == intstr.String && (err != nil || percent == number.StrVal || value < 0 || value > 100 || len(percent) > 3):
		p.invalid(at, number.StrVal, "must be a number, or a percentage from 0% to 100%")
	}
}

// disruptionWarning warns of a budget that allows no voluntary disruption. Kubernetes admits such a PodDisruptionBudget
// as well.
func disruptionWarning(workload *v1alpha.Workload) []string {
	disruption := workload.Spec.Disruption
	if disruption == nil {
		return nil
	}
	var desired int32
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		// The number of cities that a selector selects is not known here.
		running, _ := cities.Count(placement, nil, false)
		desired += int32(max(1, running)) * placement.ScaleSettings.MinReplicas //nolint:gosec // at most 48 cities
		if placement.LocationSelector != nil || placement.ScaleSettings.MaxReplicas != nil {
			return nil
		}
	}
	if desired == 0 || budget.Minimum(disruption, desired) < desired {
		return nil
	}
	return []string{fmt.Sprintf("spec.disruption: the budget needs all %d Instances, so that no voluntary disruption is possible: "+
		"nodes of the cells cannot be drained; set minAvailable below the number of Instances, or maxUnavailable above 0", desired)}
}
