// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deployments reads Workloads and LocationBindings in a project and writes there one WorkloadDeployment per
// placement and city, and the Workload's status.
package deployments
