// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha has the types of compute.datumapis.com/v1alpha: Workload, which a consumer writes,
// WorkloadDeployment, of which the add-on keeps one per placement and city, and Instance, and everything that follows
// from these types alone: names, labels, sizes.
//
// Field names and strings are used by existing manifests, clients and dashboards and are not renamed.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="../applyconfiguration"
// +groupGoName=Compute
// +groupName=compute.datumapis.com
package v1alpha
