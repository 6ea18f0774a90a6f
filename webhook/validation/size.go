// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// TemplateBytes is the default maximum of a template.
const TemplateBytes = 64 << 10

// Bounds are the maximum sizes of a Workload. Its template is copied into every Instance, in the cell and in the
// project.
type Bounds struct {
	// TemplateBytes is the maximum size of the template, encoded as JSON. 0: any.
	TemplateBytes int64
	// CityBytes is the maximum of the template's size times its Instances in one city. 0: any.
	CityBytes int64
}

// Size returns the problems of a Workload that is too large. On an update, before is the stored Workload, and a size
// that has not grown is not reported: a stored Workload that exceeds a newer bound can be changed, but not grow.
func Size(workload, before *v1alpha.Workload, bounds Bounds) field.ErrorList {
	now, was := measure(workload), footprint{}
	if before != nil {
		was = measure(before)
	}
	var problems field.ErrorList
	if bounds.TemplateBytes > 0 && now.template > max(bounds.TemplateBytes, was.template) {
		problems = append(problems, field.Invalid(field.NewPath("spec", "template"), field.OmitValueType{}, fmt.Sprintf(
			"has %d bytes as JSON, and may have %d; move large values into a ConfigMap or Secret", now.template, bounds.TemplateBytes)))
	}
	if bounds.CityBytes <= 0 {
		return problems
	}
	for _, where := range slices.Sorted(maps.Keys(now.instances)) {
		count := now.instancesIn(where)
		if size := count * now.template; size > max(bounds.CityBytes, was.instancesIn(where)*was.template) {
			path, replicas := lastIn(workload, where)
			problems = append(problems, field.Invalid(path, replicas, fmt.Sprintf(
				"%d Instances in %s, each with a copy of the template of %d bytes, are %d bytes, and may be %d; "+
					"reduce the template, or the number of Instances in the city", count, shorten(where), now.template, size, bounds.CityBytes)))
		}
	}
	return problems
}

// Demand returns the demand of a Workload on its project, which has these locations.
func Demand(workload *v1alpha.Workload, locations []cities.Location) templates.Demand {
	instances := cities.MostInstances(workload.Spec.Placements, locations)
	return templates.Demand{
		Instances: instances,
		Bytes:     templates.WorkloadBytes(len(templateJSON(workload)), templates.AnnotationBytes(workload.Annotations), instances),
	}
}

func templateJSON(workload *v1alpha.Workload) []byte {
	// An object that was decoded from JSON can be encoded.
	encoded, _ := json.Marshal(&workload.Spec.Template)
	return encoded
}

// anywhere is the place of a placement that selects its locations: it may have Instances in any city.
const anywhere = "one city"

// footprint holds the sizes that a Workload multiplies.
type footprint struct {
	// template is the length of the template as JSON.
	template int64
	// instances are the maximum numbers of Instances by city or location. Cities and locations are not resolved to each
	// other: a city that is named as both may have the sum of both.
	instances map[string]int64
}

// instancesIn is how many Instances may be in a city or location.
func (f *footprint) instancesIn(where string) int64 {
	if where == anywhere {
		return f.instances[anywhere]
	}
	return f.instances[where] + f.instances[anywhere]
}

func measure(workload *v1alpha.Workload) footprint {
	f := footprint{instances: map[string]int64{}, template: int64(len(templateJSON(workload)))}
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		for _, where := range places(placement) {
			f.instances[where] += int64(placement.ScaleSettings.MostReplicas())
		}
	}
	return f
}

// places are the cities and locations of a placement.
func places(placement *v1alpha.WorkloadPlacement) []string {
	var result []string
	for _, city := range placement.CityCodes {
		result = append(result, strings.ToUpper(city))
	}
	for _, location := range placement.Locations {
		result = append(result, "location "+location.Name)
	}
	if len(result) == 0 {
		return []string{anywhere}
	}
	return result
}

// lastIn is the field of the last placement that has Instances in a place, and its value.
func lastIn(workload *v1alpha.Workload, where string) (*field.Path, int32) {
	for i, placement := range slices.Backward(workload.Spec.Placements) {
		if !slices.Contains(places(&placement), where) {
			continue
		}
		scale, path := &placement.ScaleSettings, field.NewPath("spec", "placements").Index(i).Child("scaleSettings")
		if scale.MaxReplicas != nil && *scale.MaxReplicas > scale.MinReplicas {
			return path.Child("maxReplicas"), *scale.MaxReplicas
		}
		return path.Child("minReplicas"), scale.MinReplicas
	}
	return field.NewPath("spec", "placements"), 0
}
