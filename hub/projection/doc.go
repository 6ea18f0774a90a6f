// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package projection reads the cells' reports from the WorkloadDeployments on the hub, and from the ResourceBindings of
// their InstanceSlices, and writes the status of the project's WorkloadDeployments and the project's read-only
// Instances: only changes.
package projection
