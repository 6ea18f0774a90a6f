// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxReplicas is how many Instances a placement may have in one city.
const maxReplicas = 5000

// Workload returns every problem of a Workload, each with its field path. On an update, before is the stored Workload.
// Problems that it has too, by the same rule and with the same value, are not reported: other fields of a stored object that
// breaks a newer rule can be changed. On a create, before is nil.
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
	p.rollout(spec.child("rollout"), workload.Spec.Rollout)
	return p
}

func (p *problems) rollout(at place, rollout *v1alpha.WorkloadRollout) {
	if rollout == nil || rollout.ProgressDeadlineSeconds == nil {
		return
	}
	if deadline := *rollout.ProgressDeadlineSeconds; deadline < 1 {
		p.invalid(at.child("progressDeadlineSeconds"), deadline, "must be at least 1 second")
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
		p.scale(item.child("scaleSettings"), &placement.ScaleSettings)
	}
}

// where validates that a placement has exactly one of the fields that say where its Instances run.
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

func (p *problems) scale(at place, scale *v1alpha.HorizontalScaleSettings) {
	if scale.MinReplicas < 1 || scale.MinReplicas > maxReplicas {
		p.invalid(at.child("minReplicas"), scale.MinReplicas, validation.InclusiveRangeError(1, maxReplicas))
	}
	if scale.MaxReplicas != nil {
		limit := *scale.MaxReplicas
		item := at.child("maxReplicas")
		if limit < scale.MinReplicas {
			p.invalid(item, limit, fmt.Sprintf("must be at least minReplicas, %d", scale.MinReplicas))
		}
		if limit > maxReplicas {
			p.invalid(item, limit, validation.InclusiveRangeError(1, maxReplicas))
		}
		if len(scale.Metrics) == 0 {
			p.invalid(item, limit, "may be set only with metrics")
		}
	}
	if scale.MaxReplicas == nil && len(scale.Metrics) > 0 {
		p.required(at.child("maxReplicas"), "metrics have no effect without it")
	}
	switch scale.InstanceManagementPolicy {
	case "", v1alpha.OrderedReady, v1alpha.Parallel:
	default:
		p.unsupported(at.child("instanceManagementPolicy"), string(scale.InstanceManagementPolicy),
			string(v1alpha.OrderedReady), string(v1alpha.Parallel))
	}
	for i := range scale.Metrics {
		p.metric(at.child("metrics").item(i, "").child("resource"), scale.Metrics[i].Resource)
	}
}

func (p *problems) metric(at place, metric *v1alpha.ResourceMetricSource) {
	if metric == nil {
		p.required(at, "must name a resource to scale by")
		return
	}
	if metric.Name != "cpu" {
		p.unsupported(at.child("name"), metric.Name, "cpu")
	}
	at = at.child("target")
	set := 0
	if value := metric.Target.Value; value != nil {
		set++
		if item := at.child("value"); p.counted(item, *value) {
			p.forbidden(item, value.String(), "nothing scales by the use of all Instances together; use averageValue or averageUtilization")
		}
	}
	if value := metric.Target.AverageValue; value != nil {
		set++
		p.positive(at.child("averageValue"), *value)
	}
	if value := metric.Target.AverageUtilization; value != nil {
		set++
		if *value <= 0 {
			p.invalid(at.child("averageUtilization"), *value, "must be positive")
		}
	}
	switch {
	case set == 0:
		p.required(at, "must have exactly one of averageValue and averageUtilization")
	case set > 1:
		p.forbidden(at, set, "must have exactly one of averageValue and averageUtilization")
	}
}
