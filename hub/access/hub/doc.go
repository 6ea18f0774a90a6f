// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hub says what the add-on may do on the hub; role.yaml is generated from it.
package hub

// The copies of WorkloadDeployments, and nothing of their status: that is Karmada's to write.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments,verbs=get;list;watch;create;patch;delete

// The per-city policies.
// +kubebuilder:rbac:groups=policy.karmada.io,resources=propagationpolicies,verbs=get;list;watch;create;patch;delete

// Which cells a city has.
// +kubebuilder:rbac:groups=cluster.karmada.io,resources=clusters,verbs=get;list;watch

// Hub namespaces, and the Works that carry them into the cells of their cities.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=work.karmada.io,resources=works,verbs=get;list;watch;create;patch;delete

// Which replica has which shard of the projects.
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=karmada-system,verbs=get;list;watch;create;update;delete
