// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package project declares the additional rights at Milo of Pods that serve InstanceSessions; role.yaml is generated
// from it. They have these rights only where an operator has enabled sessions.
package project

// The Instance of a session, and the UID of its namespace.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instances,verbs=get
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get

// Events about an Instance that name the user of a session.
// +kubebuilder:rbac:groups="",resources=events,verbs=create

// Sessions: consumers create them, the add-on writes their status and deletes expired ones.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancesessions,verbs=get;delete
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancesessions/status,verbs=patch
