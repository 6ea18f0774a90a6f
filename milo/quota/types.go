// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quota has the kinds of quota.miloapis.com by which Instances are claimed, as far as the add-on reads and
// writes them. It is apart from package milo so that the controllers of the hub may import it.
//
// +kubebuilder:object:generate=true
package quota

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of all kinds of Milo's quota.
var GroupVersion = schema.GroupVersion{Group: "quota.miloapis.com", Version: "v1alpha1"}

// Resource types of the add-on.
const (
	// ResourceTypeInstances counts Instances.
	ResourceTypeInstances = "compute.datumapis.com/instances"
	// ResourceTypeVCPUs counts thousandths of a CPU.
	ResourceTypeVCPUs = "compute.datumapis.com/vcpus"
	// ResourceTypeMemory counts MiB.
	ResourceTypeMemory = "compute.datumapis.com/memory"
)

// ConditionGranted of a ResourceClaim.
const ConditionGranted = "Granted"

// Reasons of Granted.
const (
	ReasonQuotaAvailable    = "QuotaAvailable"
	ReasonQuotaExceeded     = "QuotaExceeded"
	ReasonValidationFailed  = "ValidationFailed"
	ReasonPendingEvaluation = "PendingEvaluation"
)

// AllocationGranted is the status of an allocation whose amount the claim holds.
const AllocationGranted = "Granted"

// ConsumerRef is a consumer of quota: here, a Project.
type ConsumerRef struct {
	APIGroup string `json:"apiGroup,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Name     string `json:"name,omitempty"`
}

// ObjectReference names an object of any version.
type ObjectReference struct {
	APIGroup  string `json:"apiGroup,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// Request is an amount of a resource type.
type Request struct {
	// ResourceType is for example ResourceTypeInstances.
	ResourceType string `json:"resourceType"`
	// Amount is in base units of the resource type.
	Amount int64 `json:"amount"`
}

// ResourceClaimSpec holds the claimed amounts and their purpose.
type ResourceClaimSpec struct {
	// ConsumerRef is the consumer whose quota is claimed.
	ConsumerRef ConsumerRef `json:"consumerRef"`
	// Requests are the amounts.
	Requests []Request `json:"requests"`
	// ResourceRef is the object that needs the amounts. It need not exist.
	ResourceRef ObjectReference `json:"resourceRef"`
}

// Allocation is the answer to one request.
type Allocation struct {
	// ResourceType of the request.
	ResourceType string `json:"resourceType"`
	// Status is Granted, Denied or Pending.
	Status string `json:"status"`
	// Message is the reason for the status.
	Message string `json:"message,omitempty"`
	// AllocatedAmount is the amount that the claim holds.
	AllocatedAmount int64 `json:"allocatedAmount,omitempty"`
}

// ResourceClaimStatus is Milo's answer.
type ResourceClaimStatus struct {
	// Allocations are the answers to the requests.
	Allocations []Allocation `json:"allocations,omitempty"`
	// Conditions hold Granted. Do not rely on its transition time.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true

// ResourceClaim claims quota. It is namespaced in the project. An answer that denies it is final.
type ResourceClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ResourceClaimSpec   `json:"spec"`
	Status ResourceClaimStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ResourceClaimList is a list of ResourceClaims.
type ResourceClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ResourceClaim `json:"items"`
}

// AllowanceBucketSpec identifies a bucket.
type AllowanceBucketSpec struct {
	// ConsumerRef is the consumer whose quota the bucket counts.
	ConsumerRef ConsumerRef `json:"consumerRef"`
	// ResourceType is the counted resource.
	ResourceType string `json:"resourceType"`
}

// AllowanceBucketStatus holds the granted amount, and the unclaimed part of it.
type AllowanceBucketStatus struct {
	// Limit is the sum of all grants.
	Limit int64 `json:"limit"`
	// Available is the amount that no claim holds.
	Available int64 `json:"available"`
	// LastReconciliation is nil until Milo has counted.
	LastReconciliation *metav1.Time `json:"lastReconciliation,omitempty"`
}

// +kubebuilder:object:root=true

// AllowanceBucket counts a consumer's quota of a resource type. Milo creates it.
type AllowanceBucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AllowanceBucketSpec   `json:"spec"`
	Status AllowanceBucketStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// AllowanceBucketList is a list of AllowanceBuckets.
type AllowanceBucketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AllowanceBucket `json:"items"`
}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &ResourceClaim{}, &ResourceClaimList{}, &AllowanceBucket{}, &AllowanceBucketList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
