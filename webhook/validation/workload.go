// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation finds the problems of a Workload, the parts of it that will not work well, and the permissions
// that its user needs. Its functions depend only on their arguments, do not change them, and are safe for concurrent
// use.
package validation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxMinReady is the longest minReadySeconds.
const maxMinReady = 3600

// Workload returns every problem of a Workload, each with its field path. On an update, before is the stored Workload.
// Problems that it has too, by the same rule and with the same value, are not reported: other fields of a stored object
// that breaks a newer rule can be changed. On a create, before is nil.
func Workload(workload, before *v1alpha.Workload) field.ErrorList {
	found := check(workload)
	if before == nil {
		return found.list
	}
	return found.without(check(before))
}

func check(workload *v1alpha.Workload) *problems {
	p := &problems{}
	p.workloadName(place{}.child("metadata"), workload)
	spec := place{}.child("spec")
	p.template(spec.child("template"), &workload.Spec.Template)
	p.placements(spec.child("placements"), workload.Spec.Placements)
	p.byHand(place{}.child("metadata").child("annotations"), workload.Annotations)
	p.rollout(spec.child("rollout"), &workload.Spec)
	p.disruption(spec.child("disruption"), workload.Spec.Disruption)
	p.minReadySeconds(spec.child("minReadySeconds"), &workload.Spec)
	p.service(spec.child("service"), workload)
	return p
}

// maxUnavailable requires a number of at least 1, or a percentage from 1% to 100%.
func (p *problems) maxUnavailable(at place, limit *intstr.IntOrString) {
	percent := strings.TrimSuffix(limit.StrVal, "%")
	value, err := strconv.Atoi(percent)
	switch {
	case limit.Type == intstr.Int && limit.IntVal < 1:
		p.invalid(at, limit.IntVal, "must be at least 1: a rollout could replace no Instance")
	case limit.Type == intstr.String && (err != nil || percent == limit.StrVal || value < 1 || value > 100 || len(percent) > 3):
		p.invalid(at, limit.StrVal, "must be a number, or a percentage from 1% to 100%")
	}
}

// minReadySeconds requires less than the progress deadline, as Kubernetes does: no Instance would become available in
// time.
func (p *problems) minReadySeconds(at place, spec *v1alpha.WorkloadSpec) {
	if spec.MinReadySeconds == nil {
		return
	}
	seconds := *spec.MinReadySeconds
	within(p, at, &seconds, 0, maxMinReady)
	if deadline := spec.Rollout.ProgressDeadline(); time.Duration(seconds)*time.Second >= deadline {
		p.invalid(at, seconds, fmt.Sprintf("must be less than spec.rollout.progressDeadlineSeconds, %d", int64(deadline.Seconds())))
	}
}

func (p *problems) workloadName(at place, workload *v1alpha.Workload) {
	if workload.Name == "" && workload.GenerateName != "" {
		at = at.child("generateName")
		p.messages(at, workload.GenerateName, apivalidation.NameIsDNSLabel(workload.GenerateName, true))
		return
	}
	p.label(at.child("name"), workload.Name)
}

// label requires a DNS label.
func (p *problems) label(at place, name string) {
	if name == "" {
		p.required(at, "must be a DNS label")
		return
	}
	p.messages(at, name, validation.IsDNS1123Label(name))
}

// subdomain requires a valid name of an object.
func (p *problems) subdomain(at place, name string) {
	if name == "" {
		p.required(at, "must name an object")
		return
	}
	p.messages(at, name, validation.IsDNS1123Subdomain(name))
}

func (p *problems) placements(at place, placements []v1alpha.WorkloadPlacement) {
	if len(placements) == 0 {
		p.required(at, "must have at least one placement")
	}
	names := sets.New[string]()
	for i := range placements {
		placement := &placements[i]
		item := at.item(i, placement.Name)
		p.label(item.child("name"), placement.Name)
		p.unique(item.child("name"), names, placement.Name)
		p.where(item, placement)
		p.spread(item, placement, placements[:i])
		p.scale(item.child("scaleSettings"), &placement.ScaleSettings)
	}
}

// where validates that a placement has exactly one of the fields that select where its Instances run.
func (p *problems) where(at place, placement *v1alpha.WorkloadPlacement) {
	const one = "must have exactly one of cityCodes, locations and locationSelector"
	if len(placement.CityCodes) > 0 {
		p.cityCodes(at.child("cityCodes"), placement.CityCodes)
		if len(placement.Locations) > 0 {
			p.forbidden(at.child("locations"), len(placement.Locations), one)
		}
	}
	p.locations(at.child("locations"), placement.Locations)
	selector := placement.LocationSelector
	switch {
	case selector == nil && len(placement.CityCodes)+len(placement.Locations) == 0:
		p.required(at.child("cityCodes"), "name at least one city; "+one)
	case selector != nil && len(placement.CityCodes)+len(placement.Locations) > 0:
		p.forbidden(at.child("locationSelector"), metav1.FormatLabelSelector(selector), one)
	case selector != nil:
		p.locationSelector(at.child("locationSelector"), selector)
	}
}

func (p *problems) locations(at place, locations []v1alpha.PlacementLocation) {
	seen := sets.New[string]()
	for i := range locations {
		item := at.item(i, locations[i].Name).child("name")
		p.subdomain(item, locations[i].Name)
		p.unique(item, seen, locations[i].Name)
	}
}

func (p *problems) locationSelector(at place, selector *metav1.LabelSelector) {
	text := metav1.FormatLabelSelector(selector)
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		p.required(at, "must select by at least one label; an empty selector would select every location")
	}
	for _, problem := range metavalidation.ValidateLabelSelector(selector, metavalidation.LabelSelectorValidationOptions{}, at.path) {
		p.add(at, text, problem)
	}
}

func (p *problems) cityCodes(at place, codes []string) {
	seen := sets.New[string]()
	for i, code := range codes {
		upper := strings.ToUpper(code)
		item := at.item(i, upper)
		if code == "" {
			p.required(item, "must not be empty")
			continue
		}
		if seen.Has(upper) {
			p.add(item, code, field.Duplicate(item.path, shown(code)))
		}
		seen.Insert(upper)
	}
}
