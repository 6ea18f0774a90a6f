// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package project declares the rights at Milo of Pods that serve webhooks only: at its root and in every project;
// role.yaml is generated from it. They read no ConfigMap and no Secret.
package project

// The projects.
// +kubebuilder:rbac:groups=resourcemanager.miloapis.com,resources=projects,verbs=get;list;watch

// The cities and the networks that Workloads name.
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=locationbindings,verbs=list
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=networks,verbs=get

// What users are allowed to reference, and their quota.
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=quota.miloapis.com,resources=resourcegrants,verbs=list

// The number of Instances that the Workloads of a project ask for.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads,verbs=list

// The registration of admission, at the root.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=create
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=karmada-compute,verbs=get;patch
