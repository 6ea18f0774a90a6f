// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Warnings name what is accepted but will not work well.
func Warnings(workload *v1alpha.Workload) []string {
	var warnings []string
	if sandbox := workload.Spec.Template.Spec.Runtime.Sandbox; sandbox != nil {
		path := field.NewPath("spec", "template", "spec", "runtime", "sandbox", "containers")
		for i := range sandbox.Containers {
			warnings = append(warnings, imageWarnings(path.Index(i).Child("image"), sandbox.Containers[i].Image)...)
		}
	}
	warnings = append(warnings, annotationWarnings(&workload.Spec.Template)...)
	return append(warnings, placementWarnings(workload.Spec.Placements)...)
}

// annotationWarnings name the annotations of a template that have no effect on what runs.
func annotationWarnings(template *v1alpha.InstanceTemplateSpec) []string {
	var without []string
	for _, key := range slices.Sorted(maps.Keys(template.Annotations)) {
		ofMachine := key == annotationSSHKeys && template.Spec.Runtime.VirtualMachine != nil
		if key != v1alpha.AnnotationRestartedAt && !ofMachine {
			without = append(without, shorten(key))
		}
	}
	if len(without) == 0 {
		return nil
	}
	const shownKeys = 3
	text := strings.Join(without[:min(shownKeys, len(without))], ", ")
	if more := len(without) - shownKeys; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("spec.template.metadata.annotations: %s: set on the Instances, with no effect on their Pods or virtual machines", text)}
}

func imageWarnings(path *field.Path, text string) []string {
	parsed, ok := parseImage(text)
	if !ok {
		return nil
	}
	var warnings []string
	if parsed.host == "" {
		warnings = append(warnings, fmt.Sprintf("%s: %q names no registry: cells may pull it from different ones", path, text))
	}
	switch {
	case parsed.digest != "":
	case parsed.tag == "":
		warnings = append(warnings, fmt.Sprintf("%s: %q has no tag and no digest: Instances may run different images", path, text))
	case parsed.tag == "latest":
		warnings = append(warnings, fmt.Sprintf("%s: %q has tag latest: Instances may run different images", path, text))
	}
	return warnings
}

func placementWarnings(placements []v1alpha.WorkloadPlacement) []string {
	var warnings []string
	first := map[string]int{}
	for i := range placements {
		path := field.NewPath("spec", "placements").Index(i)
		scale := &placements[i].ScaleSettings
		if len(scale.Metrics) > 0 && scale.MaxReplicas != nil && *scale.MaxReplicas == scale.MinReplicas {
			warnings = append(warnings, fmt.Sprintf("%s: equals minReplicas: metrics have no effect",
				path.Child("scaleSettings", "maxReplicas")))
		}
		for j, code := range placements[i].CityCodes {
			upper := strings.ToUpper(code)
			other, ok := first[upper]
			if !ok {
				first[upper] = i
			} else if other != i {
				warnings = append(warnings, fmt.Sprintf("%s: placement %q has city %q too: both run Instances there",
					path.Child("cityCodes").Index(j), shorten(placements[other].Name), shorten(code)))
			}
		}
	}
	return warnings
}
