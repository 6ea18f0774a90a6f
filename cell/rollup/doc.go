// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rollup reads WorkloadDeployments and their Instances in the cell, and writes the status of the
// WorkloadDeployments and their InstanceSlices: counts, conditions and a compact entry per Instance.
package rollup
