// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package project declares the rights of the add-on at Milo: at its root and in every project; role.yaml is generated
// from it.
package project

// The projects.
// +kubebuilder:rbac:groups=resourcemanager.miloapis.com,resources=projects,verbs=get;list;watch

// The cities that a project may use.
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=locationbindings,verbs=get;list;watch

// The networks that templates name.
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=networks,verbs=get

// The bindings of networks to locations. They are used only with the feature gate NetworkBinding.
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=networkbindings,verbs=get;list;create;patch;delete

// What users are allowed to reference, and their quota.
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=quota.miloapis.com,resources=resourcegrants,verbs=list

// The quota of Instances: a claim for each, and the remaining quota. They are used only with --quota.
// +kubebuilder:rbac:groups=quota.miloapis.com,resources=resourceclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=quota.miloapis.com,resources=allowancebuckets,verbs=list

// The registration of admission, at the root.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=create
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=karmada-compute,verbs=get;patch

// Workloads: consumers write them, the add-on adds a finalizer and the status.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads/status,verbs=patch

// WorkloadDeployments and Instances: the add-on writes them.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments;instances,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments/status;instances/status,verbs=patch

// WorkloadRevisions: the history of Workloads, for consumers to read.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloadrevisions,verbs=get;list;create;patch;delete

// InstanceTypes: copies of the hub's types, for consumers to read.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancetypes,verbs=list;create;patch;delete
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancetypes/status,verbs=patch

// The ConfigMaps and Secrets that templates name: read to be copied to the hub, watched without contents, never
// written. Any namespace of any project may have a Workload, so this right covers all namespaces.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;watch

// A hub namespace is named after the UID of the namespace in the project, and the UID of namespace default at the root
// identifies Milo.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get

// Events for users, and Events at the root about projects that refuse writes.
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
