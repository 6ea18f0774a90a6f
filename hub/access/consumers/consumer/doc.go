// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package consumer declares the rights of a user who runs Workloads in a project that is a namespace of the hub;
// role.yaml is generated from it. It has no right to Karmada's kinds: with these a user could reach cells past the
// add-on.
package consumer

// Workloads, their scale, and what the add-on shows of them.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloads/scale,verbs=get;update;patch
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments;workloadrevisions;instances,verbs=get;list;watch

// Sessions. The rights to logs, commands and ports are separate: docs/how-to/sessions.md.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancesessions,verbs=get;list;watch;create;delete

// The ConfigMaps and Secrets that templates name.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;watch;create;update;patch;delete

// The networks that templates name. No server has to serve the kind.
// +kubebuilder:rbac:groups=networking.datumapis.com,resources=networks,verbs=use

// What happened, and the namespace itself.
// +kubebuilder:rbac:groups="",resources=events,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
