// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package namespaces declares the additional rights of the add-on on the hub where projects are namespaces of the hub:
// the rights of package project, except for kinds that only Milo has; role.yaml is generated from it. The namespaces
// themselves are in the role of package hub.
package namespaces

// The networks that templates name, and the networks of deployments, where the operator has installed these kinds.
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=networks,verbs=get
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=networkbindings,verbs=get;list;create;patch;delete

// The registration of admission.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=create
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=karmada-compute,verbs=get;patch

// What propagates from a namespace that is to become a project.
// +kubebuilder:rbac:groups=policy.karmada.io,resources=propagationpolicies;overridepolicies,verbs=list
// +kubebuilder:rbac:groups=work.karmada.io,resources=resourcebindings;works,verbs=list

// Workloads: consumers write them, the add-on adds a finalizer and the status.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads/status,verbs=patch

// WorkloadDeployments and Instances: the add-on writes them.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments;instances,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments/status;instances/status,verbs=patch

// Revisions of Workloads.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloadrevisions,verbs=get;list;create;patch;delete

// The ConfigMaps and Secrets that templates name: read to be copied into hub namespaces, watched without contents. Any
// namespace may become a project, so this right covers all namespaces; the add-on reads only the namespaces of
// projects.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;watch

// Events for users.
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
