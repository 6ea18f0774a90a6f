// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// QuotaGroupVersion is the group and version of ResourceGrant.
var QuotaGroupVersion = quota.GroupVersion

// ResourceTypeInstances is the resource type of Instances. Its base unit is one Instance.
const ResourceTypeInstances = quota.ResourceTypeInstances

// ConditionActive of a ResourceGrant: Milo ignores inactive grants.
const ConditionActive = "Active"

// +kubebuilder:object:generate=true
// +kubebuilder:object:root=true

// ResourceGrant gives a consumer an amount of one or more resource types. It is namespaced in the project.
type ResourceGrant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ResourceGrantSpec   `json:"spec,omitempty"`
	Status ResourceGrantStatus `json:"status,omitempty"`
}

// +kubebuilder:object:generate=true
// +kubebuilder:object:root=true

// ResourceGrantList is a list of ResourceGrants.
type ResourceGrantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ResourceGrant `json:"items"`
}

// +kubebuilder:object:generate=true

// ResourceGrantSpec has the fields of a ResourceGrant's spec that are read.
type ResourceGrantSpec struct {
	// ConsumerRef is the consumer of the allowances.
	ConsumerRef ConsumerRef `json:"consumerRef"`
	// Allowances are the granted amounts.
	Allowances []Allowance `json:"allowances,omitempty"`
}

// ConsumerRef is a consumer of quota: here, a Project.
type ConsumerRef = quota.ConsumerRef

// +kubebuilder:object:generate=true

// Allowance is the granted amount of one resource type.
type Allowance struct {
	// ResourceType is for example ResourceTypeInstances.
	ResourceType string `json:"resourceType"`
	// Buckets are the parts of the amount.
	Buckets []Bucket `json:"buckets,omitempty"`
}

// Bucket is a part of an allowance.
type Bucket struct {
	// Amount is in base units of the resource type, at least 0.
	Amount int64 `json:"amount"`
}

// +kubebuilder:object:generate=true

// ResourceGrantStatus has the fields of a ResourceGrant's status that are read.
type ResourceGrantStatus struct {
	// Conditions hold Active.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
