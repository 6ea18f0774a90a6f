// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/milo/networking"
	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// ResourceManagerGroupVersion is the group and version of Project.
var ResourceManagerGroupVersion = schema.GroupVersion{Group: "resourcemanager.miloapis.com", Version: "v1alpha1"}

// NetworkingGroupVersion is the group and version of LocationBinding.
var NetworkingGroupVersion = networking.GroupVersion

// KindNetwork is the kind of a network in NetworkingGroupVersion. Only its metadata is read.
const KindNetwork = "Network"

// LabelCity is the key of a LocationBinding's topology that holds its city code.
const LabelCity = "topology.datum.net/city-code"

// The types of conditions that are read.
const (
	// ConditionReady of a Project. It stays True while the Project is being deleted.
	ConditionReady = "Ready"
	// ConditionSuspended of a Project.
	ConditionSuspended = "Suspended"
	// ConditionAvailable of a LocationBinding.
	ConditionAvailable = "Available"
)

// +kubebuilder:object:generate=true

// ProjectStatus has the fields of a Project's status that are read.
type ProjectStatus struct {
	// Conditions hold Ready and, on a newer Milo, Suspended.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:generate=true
// +kubebuilder:object:root=true

// Project is a Milo project, cluster-scoped at Milo's root.
type Project struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status ProjectStatus `json:"status,omitempty"`
}

// IsDeleting reports whether the Project is being deleted. Ready stays True meanwhile.
func (p *Project) IsDeleting() bool { return !p.DeletionTimestamp.IsZero() }

// IsSuspended reports whether an administrator has suspended the Project.
func (p *Project) IsSuspended() bool {
	return meta.IsStatusConditionTrue(p.Status.Conditions, ConditionSuspended)
}

// IsReady reports whether the Project has a control plane.
func (p *Project) IsReady() bool {
	return meta.IsStatusConditionTrue(p.Status.Conditions, ConditionReady)
}

// +kubebuilder:object:generate=true
// +kubebuilder:object:root=true

// ProjectList is a list of Projects.
type ProjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Project `json:"items"`
}

// +kubebuilder:object:generate=true

// LocationReference names a location.
type LocationReference struct {
	// Name of the location.
	Name string `json:"name,omitempty"`
}

// +kubebuilder:object:generate=true

// LocationBindingSpec has the fields of a LocationBinding's spec that are read.
type LocationBindingSpec struct {
	// LocationRef names the location.
	LocationRef LocationReference `json:"locationRef,omitempty"`
	// Topology holds LabelCity and further labels for selectors.
	Topology map[string]string `json:"topology,omitempty"`
}

// +kubebuilder:object:generate=true

// LocationBindingStatus has the fields of a LocationBinding's status that are read.
type LocationBindingStatus struct {
	// Conditions hold Available.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:generate=true
// +kubebuilder:object:root=true

// LocationBinding lets a project use a location. It is cluster-scoped in the project.
type LocationBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LocationBindingSpec   `json:"spec,omitempty"`
	Status LocationBindingStatus `json:"status,omitempty"`
}

// City is the city code of the binding in upper case, or "" when it names none.
func (b *LocationBinding) City() string { return strings.ToUpper(b.Spec.Topology[LabelCity]) }

// +kubebuilder:object:generate=true
// +kubebuilder:object:root=true

// LocationBindingList is a list of LocationBindings.
type LocationBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []LocationBinding `json:"items"`
}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(ResourceManagerGroupVersion, &Project{}, &ProjectList{})
	metav1.AddToGroupVersion(scheme, ResourceManagerGroupVersion)
	scheme.AddKnownTypes(NetworkingGroupVersion, &LocationBinding{}, &LocationBindingList{})
	metav1.AddToGroupVersion(scheme, NetworkingGroupVersion)
	scheme.AddKnownTypes(QuotaGroupVersion, &ResourceGrant{}, &ResourceGrantList{})
	metav1.AddToGroupVersion(scheme, QuotaGroupVersion)
	return errors.Join(quota.AddToScheme(scheme), networking.AddToScheme(scheme))
}

// ProjectConfig is the configuration for a project's control plane. The project's path is appended to the path of the
// root's address.
func ProjectConfig(root *rest.Config, project string) (*rest.Config, error) {
	address, err := url.Parse(root.Host)
	if err != nil || address.Scheme == "" || address.Host == "" {
		return nil, fmt.Errorf("the address of Milo's root is %q: it must be a URL such as https://milo.example.com", root.Host)
	}
	config := rest.CopyConfig(root)
	config.Host = address.JoinPath("apis", ResourceManagerGroupVersion.Group, ResourceManagerGroupVersion.Version,
		"projects", project, "control-plane").String() + "/"
	return config, nil
}

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
