// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package references reads the ConfigMaps and Secrets that WorkloadDeployments name in a project, and writes a copy of
// each to the hub namespace, owned by the hub's deployments that name it, and the condition ReferencedDataReady of the
// project's WorkloadDeployments. Karmada propagates the copies only to the cells of these deployments. For Workloads whose
// data is part of their revisions it keeps immutable snapshots there, and writes status.data and condition DataCurrent of
// the Workload.
//
// The contents of Secrets are never cached, logged or put into an error, an event or a condition.
package references
