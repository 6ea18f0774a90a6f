// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "k8s.io/apimachinery/pkg/util/intstr"

// WorkloadDisruption is the budget of a Workload for voluntary disruptions. Percentages are of the desired Instances in all cities.
// +kubebuilder:validation:ExactlyOneOf=minAvailable;maxUnavailable
type WorkloadDisruption struct {
	// minAvailable is how many Instances voluntary disruptions leave Available: a number, or a percentage that is rounded up.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// maxUnavailable is how many Instances may be unavailable after a voluntary disruption: a number, or a percentage that is rounded
	// up.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// AvailabilityFloor is the share of a Workload's disruption budget that a city or a cell has, as the number of Available Instances
// that voluntary disruptions there must leave.
type AvailabilityFloor struct {
	// minAvailable is the least number of Available Instances.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=240000
	MinAvailable int32 `json:"minAvailable"`

	// sequence grows with each change of minAvailable, and tells an old confirmation from a new one.
	// +required
	// +kubebuilder:validation:Minimum=1
	Sequence int64 `json:"sequence"`
}
