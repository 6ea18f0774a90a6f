// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package streams declares the permissions of the credential of InstanceSessions in a cell, in the namespaces of
// projects; role.yaml is generated from it.
package streams

// Logs.
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get

// Commands and ports. API servers ask for get or create, depending on their version, when a connection is upgraded to
// WebSocket.
// +kubebuilder:rbac:groups="",resources=pods/exec;pods/attach;pods/portforward,verbs=get;create
