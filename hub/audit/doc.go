// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package audit reads, from the hub's cache, the way of every WorkloadDeployment of this replica's projects through Karmada to its
// cells, from time to time and soon after it has changed, and writes to the hub where something on it is wrong for too long: the
// smallest change that makes Karmada reconcile it again.
package audit
