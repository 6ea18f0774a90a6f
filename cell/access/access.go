// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package access has the permissions of the add-on in a cell. role.yaml is generated from it.
package access

// WorkloadDeployments are created by Karmada. Only their status is written.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments/status,verbs=get;patch

// InstanceSlices are created by Karmada. Only their status is written; one whose deployment is gone is deleted.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instanceslices,verbs=delete;get;list;watch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instanceslices/status,verbs=patch

// Instances are created, deleted and patched to lift their scheduling gates.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instances,verbs=create;delete;get;list;patch;watch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instances/status,verbs=get;patch

// Cells are created by Karmada. Their status is the inventory.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=cells,verbs=get;list;watch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=cells/status,verbs=patch

// The inventory contains hub namespaces, and empty hub namespaces are counted.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch

// Pods are created and deleted, and Pods of earlier versions are patched to get labels.
// +kubebuilder:rbac:groups="",resources=pods,verbs=create;delete;get;list;patch;watch

// Evictions obey the disruption budget of a deployment, also those by the agent.
// +kubebuilder:rbac:groups="",resources=pods/eviction,verbs=create
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;delete;get;list;patch;watch

// Instances on cordoned nodes wait for a disruption.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch

// NetworkPolicies isolate the projects from each other.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=create;delete;get;list;patch;watch

// Services give the Instances of a Workload a name. A Service of others is only read, and only when it has the name.
// +kubebuilder:rbac:groups="",resources=services,verbs=create;delete;get;list;patch;watch

// What offers these Services to other clusters, where the cell has the Multi-Cluster Services API.
// +kubebuilder:rbac:groups=multicluster.x-k8s.io,resources=serviceexports,verbs=create;delete;get;patch

// Routes to these Services at the Gateway of the cell, where it has the Gateway API. Gateways and their classes are only read.
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=create;delete;get;patch
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=gateways;gatewayclasses,verbs=get

// Autoscalers of WorkloadDeployments that are scaled by metrics.
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=create;delete;get;list;patch;watch

// The controllers watch the metadata of the ConfigMaps and Secrets that the hub has sent, and read each version of a content
// once, to compare its hash.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=list;watch

// The Event of a kubelet says why it has evicted a Pod, where the Pod does not.
// +kubebuilder:rbac:groups="",resources=events,verbs=list

// Events that a user must act on.
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// The Lease of leader election.
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=karmada-compute-system,verbs=create;get;update

// Callers of the metrics endpoint are authenticated and authorized by the cell's kube-apiserver.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
