// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory reads the WorkloadDeployments and hub namespaces in the cell and writes into the status of each Cell which of
// them are of its hub, so that the hub knows what should not be there and what is missing.
package inventory
