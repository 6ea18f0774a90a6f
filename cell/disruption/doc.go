// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package disruption reads WorkloadDeployments with a floor and their Pods, keeps a PodDisruptionBudget for each of
// them, and evicts Pods for the other controllers of the cell, so that the status of the budget counts all voluntary
// disruptions.
package disruption
