// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cell holds the controllers that run in a member cluster: deployments (WorkloadDeployment to Instances),
// instances (scheduling gates), runtime (Instance to Pod) and rollup (Instances to WorkloadDeployment.status). They
// know nothing of Karmada, the hub or Milo: what is asked for comes in the objects, and what is seen goes out in
// their status.
package cell
