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
