// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"fmt"
	"slices"
	"strings"
)

// AnnotationRequires, on the hub's copy, names the fields of its spec that hold Instances back or limit them, separated by commas. An API
// server whose CRD is older drops fields that it does not know, without a word; it keeps annotations. A cell that lacks a field that is
// named here starts nothing new.
const AnnotationRequires = "compute.datumapis.com/requires"

// holding are the fields of a spec whose absence would let Instances start that may not, by name.
var holding = map[string]func(*WorkloadDeploymentSpec) bool{
	"assignment":            func(s *WorkloadDeploymentSpec) bool { return s.Assignment != nil },
	"instanceTypeResources": func(s *WorkloadDeploymentSpec) bool { return len(s.InstanceTypeResources) > 0 },
	"networks":              func(s *WorkloadDeploymentSpec) bool { return s.Networks != nil },
	"quota":                 func(s *WorkloadDeploymentSpec) bool { return s.Quota != nil },
	"suspended":             func(s *WorkloadDeploymentSpec) bool { return s.Suspended },
}

// Requires is the value of AnnotationRequires for a copy with this spec.
func (s *WorkloadDeploymentSpec) Requires() string {
	var names []string
	for name, set := range holding {
		if set(s) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// MissingFields are the fields that AnnotationRequires names and that the deployment does not have, sorted: its API server has an older
// CRD, or this program does not know them. There are none where an earlier version of the hub did not write the annotation.
func (d *WorkloadDeployment) MissingFields() []string {
	var missing []string
	for name := range strings.SplitSeq(ShortenMessage(d.Annotations[AnnotationRequires], MaxMessage), ",") {
		if set, known := holding[name]; name != "" && (!known || !set(&d.Spec)) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// MissingMessage says why a cell that lacks fields starts nothing new.
func MissingMessage(missing []string) string {
	return ShortenMessage(fmt.Sprintf("the cell starts nothing new: it lacks spec.%s of the deployment; upgrade the CRDs and the agent in the cell",
		strings.Join(missing, ", spec.")), MaxMessage)
}
