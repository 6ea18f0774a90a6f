// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server declares the rights on the hub of Pods that only carry the streams of InstanceSessions, in addition to
// package hub; role.yaml is generated from it.
package server

// The CA that signs the serving certificates, which the Pods of the webhooks create.
// +kubebuilder:rbac:groups="",resources=secrets,namespace=karmada-system,resourceNames=karmada-compute-webhook-ca,verbs=get;update

// Callers of metrics, and the users of sessions in projects that are namespaces.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
