// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sessions declares the additional permissions of the agent in a cell in which an operator has enabled
// InstanceSessions; role.yaml is generated from it.
package sessions

// One RoleBinding in each namespace of a project. RBAC cannot limit a creation by name; the agent can bind one role.
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=create
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,resourceNames=karmada-compute-cell-streams,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=karmada-compute-cell-streams,verbs=bind
