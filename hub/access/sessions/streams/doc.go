// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package streams declares the rights of user karmada-compute-sessions on the hub; role.yaml is generated from it. The
// credential of InstanceSessions makes the requests for streams as this user. Karmada's proxy repeats the user and the
// groups of a request in the cell, and may do so only for users and groups to which the hub has bound a role on
// clusters/proxy by name: a ServiceAccount has groups of all ServiceAccounts, which must not have such a role.
package streams

// The streams. The roles in a cell limit what they reach there.
// +kubebuilder:rbac:groups=cluster.karmada.io,resources=clusters/proxy,verbs=get
