// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
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
	if cities := rollout.CitiesAtOnce; cities != nil && (*cities < 1 || *cities > maxCities) {
		p.invalid(at.child("citiesAtOnce"), *cities, validation.InclusiveRangeError(1, maxCities))
	}
	if limit := rollout.RevisionHistoryLimit; limit != nil && (*limit < 0 || *limit > maxHistory) {
		p.invalid(at.child("revisionHistoryLimit"), *limit, validation.InclusiveRangeError(0, maxHistory))
	}
	p.onFailure(at.child("onFailure"), rollout.OnFailure)
	p.cityOrder(at.child("cityOrder"), spec)
}

// amounts checks the numbers and percentages of Instances.
func (p *problems) amounts(at place, rollout *v1alpha.WorkloadRollout) {
	if most := rollout.MaxUnavailable; most != nil {
		p.maxUnavailable(at.child("maxUnavailable"), most)
	}
	if most := rollout.MaxSurge; most != nil {
		p.maxSurge(at.child("maxSurge"), most)
	}
	if rollout.Batch != nil {
		p.maxUnavailable(at.child("batch"), rollout.Batch)
	}
	if after := rollout.PauseAfter; after != nil && (after.Type == intstr.Int || after.StrVal != v1alpha.PauseAfterFirstCity) {
		p.maxUnavailable(at.child("pauseAfter"), after)
	}
}

func (p *problems) maxSurge(at place, most *intstr.IntOrString) {
	percent, isPercent := strings.CutSuffix(most.StrVal, "%")
	value, err := strconv.Atoi(percent)
	switch {
	case most.Type == intstr.Int && (most.IntVal < 0 || most.IntVal > maxReplicas):
		p.invalid(at, most.IntVal, validation.InclusiveRangeError(0, maxReplicas))
	case most.Type == intstr.String && (err != nil || !isPercent || value < 0 || value > 100 || len(percent) > 3 || percent[0] == '+'):
		p.invalid(at, most.StrVal, "must be a number, or a percentage from 0% to 100%")
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
