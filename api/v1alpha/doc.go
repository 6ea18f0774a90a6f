// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha holds the types of compute.datumapis.com/v1alpha: what a consumer writes (Workload), what the
// add-on keeps per placement and city (WorkloadDeployment) and what runs (Instance).
//
// The field names and strings are a wire contract with manifests, clients and dashboards that exist already; they
// are not renamed.
//
// +kubebuilder:object:generate=true
// +groupName=compute.datumapis.com
package v1alpha
