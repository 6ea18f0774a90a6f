// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sessions keeps a RoleBinding in each namespace of a project that has a WorkloadDeployment, in the cell. With
// the RoleBinding the credential of InstanceSessions reaches the Pods there, and in no other namespace.
package sessions
