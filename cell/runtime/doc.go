// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runtime reads Instances, their WorkloadDeployments and Pods in the cell, has their scheduling gates lifted when what they wait
// for is there, keeps a Pod for every sandbox Instance that nothing holds, and writes the status of the Instances. Of those that
// another runtime runs it writes the conditions QuotaGranted and ReferencedDataReady alone.
package runtime
