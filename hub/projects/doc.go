// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package projects defines the view of projects that the hub's controllers share: the projects that this replica has
// engaged, their locations, their suspension, and the names and labels of their objects on the hub. It reads hub
// namespaces, and writes nothing.
package projects
