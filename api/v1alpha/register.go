// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "compute.datumapis.com", Version: "v1alpha"}

// SchemeGroupVersion is GroupVersion, by the name that generated clients use.
var SchemeGroupVersion = GroupVersion

var schemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Workload{}, &WorkloadList{},
		&WorkloadDeployment{}, &WorkloadDeploymentList{},
		&Instance{}, &InstanceList{},
		&InstanceSlice{}, &InstanceSliceList{},
		&Cell{}, &CellList{},
		&InstanceType{}, &InstanceTypeList{},
		&WorkloadRevision{}, &WorkloadRevisionList{},
		&InstanceSession{}, &InstanceSessionList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
})

// AddToScheme adds every kind of this package to a scheme.
var AddToScheme = schemeBuilder.AddToScheme

// Resource qualifies the name of a resource with this group, for generated clients.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

// Kinds of this group and version.
const (
	KindWorkload           = "Workload"
	KindWorkloadDeployment = "WorkloadDeployment"
	KindInstance           = "Instance"
	KindInstanceSlice      = "InstanceSlice"
	KindCell               = "Cell"
	KindInstanceSession    = "InstanceSession"
	KindWorkloadRevision   = "WorkloadRevision"
)

// ControllerReference is the owner reference by which a Workload controls a WorkloadDeployment.
func (w *Workload) ControllerReference() metav1.OwnerReference {
	return *metav1.NewControllerRef(w, GroupVersion.WithKind(KindWorkload))
}

// ControllerReference is the owner reference by which a WorkloadDeployment controls an Instance.
func (d *WorkloadDeployment) ControllerReference() metav1.OwnerReference {
	return *metav1.NewControllerRef(d, GroupVersion.WithKind(KindWorkloadDeployment))
}

// OwnerReference is the owner reference by which a WorkloadDeployment owns an object that may have several owners.
func (d *WorkloadDeployment) OwnerReference() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: GroupVersion.String(), Kind: KindWorkloadDeployment, Name: d.Name, UID: d.UID}
}

// ControllerReference is the owner reference by which an Instance controls its Pod. It blocks the deletion of the
// Instance in foreground: the name of an Instance is free only when its Pod is gone.
func (i *Instance) ControllerReference() metav1.OwnerReference {
	return *metav1.NewControllerRef(i, GroupVersion.WithKind(KindInstance))
}
