// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package types declares the right to read InstanceTypes; role.yaml is generated from it. They are not in a namespace, so that a
// consumer whose project is a namespace of the hub needs a ClusterRoleBinding of it.
package types

// The sizes that templates name.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancetypes,verbs=get;list;watch
