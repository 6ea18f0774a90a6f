// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package path reads the path of one WorkloadDeployment from the hub's cache: its copy, its ResourceBinding, its Works,
// and its cells' reports. Judge finds the faults on that path, when they began, and how to repair them. The package
// writes nothing.
package path
