// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package instances reads Instances, their WorkloadDeployments and the metadata of the ConfigMaps and Secrets that they
// name in the cell, lifts the scheduling gates of the Instances and writes their conditions QuotaGranted and
// ReferencedDataReady.
package instances
