// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deployments reads WorkloadDeployments and their Instances in the cell, and makes and removes Instances so
// that what is asked for runs.
package deployments
