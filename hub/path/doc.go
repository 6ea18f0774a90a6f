// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package path reads the path of one WorkloadDeployment from the hub's cache: its copy, its ResourceBinding, its Works, and what its
// cells reported. Judge finds what is wrong on that path, since when, and how to repair it. The package writes nothing.
package path
