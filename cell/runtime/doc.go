// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runtime reads Instances, their WorkloadDeployments and Pods in the cell, lifts scheduling gates whose
// requirements are met, keeps a Pod for every sandbox Instance without a gate, and writes the status of the Instances.
// For Instances of another runtime it writes only the conditions QuotaGranted and ReferencedDataReady.
package runtime
