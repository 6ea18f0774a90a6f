// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package viewer declares the rights of a user who reads the Workloads of a project that is a namespace of the hub;
// role.yaml is generated from it.
package viewer

// Workloads, and what the add-on shows of them.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads;workloaddeployments;workloadrevisions;instances;instancesessions,verbs=get;list;watch

// What happened, and the namespace itself.
// +kubebuilder:rbac:groups="",resources=events,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
