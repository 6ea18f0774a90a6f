// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DataChangePolicy is the effect of a change of a ConfigMap or Secret.
// +kubebuilder:validation:Enum=InPlace;Rollout
type DataChangePolicy string

const (
	// DataInPlace gives each cell the new content at once. Volumes show it to running containers, and variables of the
	// environment have it after a restart.
	DataInPlace DataChangePolicy = "InPlace"
	// DataRollout makes the content a part of the revision: a change rolls out as a change of the template does.
	DataRollout DataChangePolicy = "Rollout"
)

// OnDataChange is the effect of changes of the ConfigMaps and Secrets that a template names.
type OnDataChange struct {
	// policy is InPlace or Rollout. With Rollout, the content of the ConfigMaps and Secrets that the containers name is
	// part of the revision: Instances are started with an immutable snapshot of it, a change of it is rolled out, and an
	// undo returns to it.
	// +required
	Policy DataChangePolicy `json:"policy"`

	// configMaps are the names of the ConfigMaps that policy Rollout is for. Without configMaps and secrets, it is for all
	// that the containers name. A change of any other one is InPlace.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	ConfigMaps []string `json:"configMaps,omitempty"`

	// secrets are the names of the Secrets that policy Rollout is for.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Secrets []string `json:"secrets,omitempty"`
}

// Names reports whether the policy is for an object of a kind, ConfigMap or Secret. o may be nil.
func (o *OnDataChange) Names(kind, name string) bool {
	switch {
	case o == nil:
		return false
	case len(o.ConfigMaps) == 0 && len(o.Secrets) == 0:
		return true
	case kind == "Secret":
		return slices.Contains(o.Secrets, name)
	}
	return slices.Contains(o.ConfigMaps, name)
}

// DataVersion is a ConfigMap or Secret with a content.
type DataVersion struct {
	// kind is ConfigMap or Secret.
	// +required
	// +kubebuilder:validation:Enum=ConfigMap;Secret
	Kind string `json:"kind"`

	// name of the object in the project.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// hash of the content; 0000000000000000: an optional object that does not exist. The hash of a Secret depends on its
	// UID, so that values cannot be tried without access to the Secret.
	// +required
	// +kubebuilder:validation:Pattern=`^[0-9a-v]{16}$`
	Hash string `json:"hash"`
}

// WorkloadDataStatus is the data that the Instances of a Workload are started with, where a change of data is a rollout.
type WorkloadDataStatus struct {
	// objects that the template names, by kind and name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Objects []DataVersion `json:"objects,omitempty"`

	// takenTime is when the content of an object changed last.
	// +optional
	TakenTime *metav1.Time `json:"takenTime,omitempty"`

	// intervalSeconds is how long after takenTime the next change is taken. It doubles with each change that interrupts a
	// rollout.
	// +optional
	// +kubebuilder:validation:Minimum=0
	IntervalSeconds int32 `json:"intervalSeconds,omitempty"`
}

// AnnotationRolloutData is the annotation of a Workload by which an undo holds data at an earlier content. Its value is a
// list of kind/name:held:newest, separated by commas: the object is held while its newest content has the other hash.
const AnnotationRolloutData = "compute.datumapis.com/rollout-data"

// LabelDataHash is the label of a copy of a ConfigMap or Secret, on the hub and in cells. Its value is the hash of the
// content by the key in AnnotationDataKey. Both are written with the content, and stay while it does.
const LabelDataHash = "compute.datumapis.com/data-hash"

// AnnotationDataKey is the annotation of a copy of a ConfigMap or Secret, on the hub and in cells, with the key of its hash: cells
// compare the hash with what they have. No other object has the same key, and a reader of it can read the object.
const AnnotationDataKey = "compute.datumapis.com/data-key"

// AnnotationStartedWith is the annotation of a Pod with the hash of the data that it was created with, and the beginning of
// the hash of each ConfigMap and Secret that its containers keep, in the order of their kinds and names.
const AnnotationStartedWith = "compute.datumapis.com/started-with"

// LabelSnapshot is the label of a snapshot of a ConfigMap or Secret in a hub namespace. Its value is the size of the
// content in bytes.
const LabelSnapshot = "compute.datumapis.com/snapshot"
