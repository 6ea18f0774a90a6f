// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package services reads WorkloadDeployments in the cell, keeps one Service for all deployments of a Workload there, with
// a ServiceExport and an HTTPRoute where the cell serves the kinds, and writes condition ServiceProgrammed of these deployments.
package services
