// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package collector writes into the status of each Cell the WorkloadDeployments and hub namespaces in the cell that
// belong to its hub, so that the hub knows about unwanted and missing objects. It also checks the Instances, Pods and
// InstanceSlices in the cell for objects whose controller is gone, although an object with its name may exist, and
// deletes them or has them adopted. The garbage collector misses owners that were deleted and recreated under the same
// name while its watch was interrupted; Karmada leaves InstanceSlices without their deployment. The checks depend on no
// event: missed events are detected within a few minutes.
package collector
