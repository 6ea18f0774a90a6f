// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstanceSliceSpec says which Instances a slice is for. It never changes: scaling moves no Instance from one slice to
// another.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is immutable; other Instances have another slice"
type InstanceSliceSpec struct {
	// deployment is the name of the WorkloadDeployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Deployment string `json:"deployment"`

	IndexRange `json:",inline"`
}

// InstanceSliceStatus is the report of the cell.
type InstanceSliceStatus struct {
	// observedGeneration is the generation of the slice. It is 0 until the cell has reported: then the slice says nothing
	// about its Instances.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// sequence differs in a report from the one in the report before it, as in the status of a WorkloadDeployment.
	// +optional
	Sequence int64 `json:"sequence,omitempty"`

	InstanceReport `json:",inline"`
}

// InstanceSlice has the entries of some of the Instances of a large WorkloadDeployment, so that a change of one of them
// costs the same however many there are. Only the add-on writes it: the hub makes it beside its copy of the deployment,
// Karmada brings it to the cells of that one, and the agent in each of them writes its status. The hub reads that where
// Karmada collects it, in the Work for each cell: the slice on the hub has none.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=islice
// +kubebuilder:printcolumn:name="Deployment",type=string,JSONPath=`.spec.deployment`
// +kubebuilder:printcolumn:name="First",type=integer,JSONPath=`.spec.first`
// +kubebuilder:printcolumn:name="Last",type=integer,JSONPath=`.spec.last`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type InstanceSlice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec InstanceSliceSpec `json:"spec"`
	// +optional
	Status InstanceSliceStatus `json:"status,omitempty"`
}

// InstanceSliceList is a list of InstanceSlices.
//
// +kubebuilder:object:root=true
type InstanceSliceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InstanceSlice `json:"items"`
}
