// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package project says what the add-on may do at Milo: at its root and in every project; role.yaml is generated from
// it.
package project

// Which projects there are.
// +kubebuilder:rbac:groups=resourcemanager.miloapis.com,resources=projects,verbs=get;list;watch

// Which cities a project may use.
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=locationbindings,verbs=get;list;watch

// What users may use, and how much.
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=quota.miloapis.com,resources=resourcegrants,verbs=list

// The registration of admission, at the root.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=create
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=karmada-compute,verbs=get;patch

// What consumers write: the finalizer and the status are ours.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads/status,verbs=patch

// What the add-on makes of it.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments;instances,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments/status;instances/status,verbs=patch

// What templates name: read to be carried to the hub, watched without contents, never written. Any namespace of any
// project may have a Workload, so the right has no namespace.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;watch

// A hub namespace is named after the UID of the namespace in the project.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get

// What users should know.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
