// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cell has the controllers that run in a member cluster: deployments (WorkloadDeployment to Instances), runtime
// (scheduling gates, Instance to Pod) and rollup (Instances to WorkloadDeployment.status). They depend on neither
// Karmada nor the hub nor Milo: the desired state is in the specs of the objects, the observed state in their statuses.
package cell
