// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "k8s.io/apimachinery/pkg/util/intstr"

// WorkloadDisruption is the budget of a Workload for voluntary disruptions. Percentages are of the desired Instances in
// all cities.
// +kubebuilder:validation:ExactlyOneOf=minAvailable;maxUnavailable
type WorkloadDisruption struct {
	// minAvailable is how many Instances voluntary disruptions leave Available: a number, or a percentage that is rounded
	// up.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// maxUnavailable is how many Instances may be unavailable after a voluntary disruption: a number, or a percentage that
	// is rounded up.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// AvailabilityFloor is the share of a Workload's disruption budget that a city or a cell has, as the number of
// Available Instances that voluntary disruptions there must leave.
type AvailabilityFloor struct {
	// minAvailable is the least number of Available Instances.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=240000
	MinAvailable int32 `json:"minAvailable"`

	// sequence grows with each change of minAvailable, and distinguishes old confirmations from new ones.
	// +required
	// +kubebuilder:validation:Minimum=1
	Sequence int64 `json:"sequence"`

	// pending is the state of a change that is not confirmed yet. It is set where the hub keeps a budget: in the status of
	// the Workload, and in the assignment of the copy on the hub. Cells ignore it.
	// +optional
	Pending *PendingFloor `json:"pending,omitempty"`
}

// PendingFloor has the floors that may be in force until a floor is confirmed.
type PendingFloor struct {
	// lowest is the smallest floor that may be in force: of the last confirmed one and of all that were sent after it.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=240000
	Lowest int32 `json:"lowest"`

	// confirmed is the sequence of the last confirmed floor; 0 without one. A report with a smaller one counts for
	// nothing. It is above the sequence of the floor itself while the member is lost: no report counts.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Confirmed int64 `json:"confirmed,omitempty"`
}

// WorkloadDisruptionStatus is the division of a Workload's disruption budget among its deployments. It is written
// before a floor in a deployment is.
type WorkloadDisruptionStatus struct {
	// minAvailable is how many Instances voluntary disruptions leave Available in all cities together. Condition
	// DisruptionBudget is True while that is in force.
	// +required
	MinAvailable int32 `json:"minAvailable"`

	// sequence is the highest sequence of a floor so far.
	// +required
	Sequence int64 `json:"sequence"`

	// floors of the deployments, by name.
	// +optional
	// +listType=map
	// +listMapKey=deployment
	// +kubebuilder:validation:MaxItems=4608
	Floors []DeploymentFloor `json:"floors,omitempty"`
}

// DeploymentFloor is the floor of one deployment.
type DeploymentFloor struct {
	// deployment is the name of the WorkloadDeployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Deployment string `json:"deployment"`

	AvailabilityFloor `json:",inline"`
}
