// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package access says what the add-on may do in a cell; role.yaml is generated from it.
package access

// What is asked for comes down, and nothing but its status is written.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments/status,verbs=get;patch

// Instances are made and removed, and their gates lifted.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instances,verbs=create;delete;get;list;patch;watch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instances/status,verbs=get;patch

// Pods are made and removed, never changed.
// +kubebuilder:rbac:groups="",resources=pods,verbs=create;delete;get;list;watch

// Whether what a template names has arrived: a watch of metadata, limited to what the hub has sent. Nothing reads, and
// no rule can say, that a list is for metadata alone.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=list;watch

// What a user must act on; the core group is for what leader election tells.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// Which replica leads.
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=karmada-compute-system,verbs=create;get;update
