// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory writes into the status of each Cell the WorkloadDeployments and hub namespaces in the cell that belong to its hub,
// so that the hub knows about unwanted and missing objects.
package inventory
