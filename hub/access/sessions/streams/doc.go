// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package streams says what user karmada-compute-sessions may do on the hub; role.yaml is generated from it. The credential of
// InstanceSessions makes the requests for streams as this user. Karmada's proxy repeats the user and the groups of a request in the cell,
// and may do so only for those to which the hub has bound a role on clusters/proxy by name: a ServiceAccount has groups of all
// ServiceAccounts, which must not have such a role.
package streams

// The streams. What they reach in a cell is limited by the roles there.
// +kubebuilder:rbac:groups=cluster.karmada.io,resources=clusters/proxy,verbs=get
