// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstanceTypePhase is the phase in the life of an instance type. Phases only go forward.
// +kubebuilder:validation:Enum=Active;Deprecated;Disabled
type InstanceTypePhase string

const (
	// InstanceTypeActive is a type that any Workload may name.
	InstanceTypeActive InstanceTypePhase = "Active"
	// InstanceTypeDeprecated is a type that Workloads may still name, with a warning and a condition, until the grace
	// period ends.
	InstanceTypeDeprecated InstanceTypePhase = "Deprecated"
	// InstanceTypeDisabled is a type that no further Instance may request. Running Instances stay.
	InstanceTypeDisabled InstanceTypePhase = "Disabled"
)

// InstanceTypeLifecycle restricts the use of a type.
// +kubebuilder:validation:XValidation:rule="{'Active': 0, 'Deprecated': 1, 'Disabled': 2}[self.phase] >= {'Active': 0, 'Deprecated': 1, 'Disabled': 2}[oldSelf.phase]",message="a phase only goes forward: Active, Deprecated, Disabled",fieldPath=".phase"
type InstanceTypeLifecycle struct {
	// phase is Active, Deprecated or Disabled.
	// +optional
	// +default="Active"
	Phase InstanceTypePhase `json:"phase,omitempty"`

	// replacementInstanceType is the type to use instead of a type that is not Active.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ReplacementInstanceType string `json:"replacementInstanceType,omitempty"`
}

// InstanceTypeSpec is a size that Instances can have.
type InstanceTypeSpec struct {
	// displayName is for people.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	DisplayName string `json:"displayName,omitempty"`

	// description is for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// resources of one Instance, including cpu and memory. A Workload's deployments record the resources of its type: a
	// change applies to Workloads that begin to name the type after it.
	// +required
	// +kubebuilder:validation:XValidation:rule="'cpu' in self && 'memory' in self",message="must have cpu and memory"
	Resources corev1.ResourceList `json:"resources"`

	// lifecycle restricts the use of the type.
	// +optional
	// +default={"phase": "Active"}
	Lifecycle InstanceTypeLifecycle `json:"lifecycle,omitempty"`
}

// InstanceTypeStatus is the record of the add-on about a type.
type InstanceTypeStatus struct {
	// deprecatedAt is when the add-on saw first that the type is Deprecated. New Workloads are refused the type when the
	// grace period of the operator has passed since.
	// +optional
	DeprecatedAt *metav1.Time `json:"deprecatedAt,omitempty"`
}

// InstanceType is a size that Workloads name. Operators write it on the hub; a project has a copy that shows what there
// is and that nothing reads.
//
// +genclient
// +genclient:nonNamespaced
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=itype,categories=compute
// +kubebuilder:printcolumn:name="CPU",type=string,JSONPath=`.spec.resources.cpu`
// +kubebuilder:printcolumn:name="Memory",type=string,JSONPath=`.spec.resources.memory`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.spec.lifecycle.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Display Name",type=string,priority=1,JSONPath=`.spec.displayName`
// +kubebuilder:printcolumn:name="Replacement",type=string,priority=1,JSONPath=`.spec.lifecycle.replacementInstanceType`
// +kubebuilder:printcolumn:name="Deprecated",type=date,priority=1,JSONPath=`.status.deprecatedAt`
type InstanceType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec InstanceTypeSpec `json:"spec"`
	// +optional
	Status InstanceTypeStatus `json:"status,omitzero"`
}

// InstanceTypeList is a list of InstanceTypes.
//
// +kubebuilder:object:root=true
type InstanceTypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InstanceType `json:"items"`
}

// InstanceTypeName is the name of the InstanceType object that a template names: datumcloud/d1-standard-2 is another
// spelling of datumcloud-d1-standard-2.
func InstanceTypeName(spelled string) string { return strings.ReplaceAll(spelled, "/", "-") }

// IsUsable reports whether further Instances of the type may be requested.
func (t *InstanceType) IsUsable() bool { return t.Spec.Lifecycle.Phase != InstanceTypeDisabled }

// GraceEnds returns the end of the grace period of a Deprecated type. It is false for a type of another phase, for one
// whose deprecation is not recorded, and where grace is 0: new Workloads may then name the type without end.
func (t *InstanceType) GraceEnds(grace time.Duration) (time.Time, bool) {
	if t.Spec.Lifecycle.Phase != InstanceTypeDeprecated || t.Status.DeprecatedAt == nil || grace <= 0 {
		return time.Time{}, false
	}
	return t.Status.DeprecatedAt.Add(grace), true
}

// FindInstanceType returns the type that a template names in either spelling, or nil.
func FindInstanceType(types []InstanceType, spelled string) *InstanceType {
	name := InstanceTypeName(spelled)
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}

// UsableInstanceTypes are the names of the types of which further Instances may be requested, in the order of types.
func UsableInstanceTypes(types []InstanceType) []string {
	var names []string
	for i := range types {
		if types[i].IsUsable() {
			names = append(names, types[i].Name)
		}
	}
	return names
}
