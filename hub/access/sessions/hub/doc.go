// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hub declares the rights on the hub of the credential of InstanceSessions; role.yaml is generated from it. The
// credential exists only where an operator has enabled sessions.
package hub

// The place of an Instance: its hub namespace, the assignment of its deployment, and the state of its cell.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments,verbs=get
// +kubebuilder:rbac:groups=cluster.karmada.io,resources=clusters,verbs=get

// The streams are requests of another user, which has no groups and no other rights: see package streams.
// +kubebuilder:rbac:groups="",resources=users,resourceNames=karmada-compute-sessions,verbs=impersonate

// The grants, in a namespace that has nothing else.
// +kubebuilder:rbac:groups="",resources=configmaps,namespace=karmada-compute-sessions,verbs=get;list;watch;create;patch;delete
