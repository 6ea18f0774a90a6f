// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package namespace declares the rights of the add-on in a hub namespace beyond package hub; role.yaml is generated
// from it. The role is bound in hub namespaces only.
package namespace

// The copies of the ConfigMaps and Secrets that templates name.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;create;patch;delete
