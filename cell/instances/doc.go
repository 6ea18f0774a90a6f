// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package instances reads Instances and their WorkloadDeployments in the cell, and lifts the scheduling gates of the
// Instances and writes their condition QuotaGranted.
package instances
