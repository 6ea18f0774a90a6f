// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package propagation reads WorkloadDeployments in a project and writes to the hub: a copy of each and its
// InstanceSlices, the hub namespace, the city's PropagationPolicy, and the Works that carry the namespace into the
// cells of the city. Its finalizer on the WorkloadDeployment in the project deletes them; hub/collector requests the
// same when there is no such WorkloadDeployment.
package propagation
