// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package features holds the scenarios, in Gherkin, and runs them on a local federation: real kube-apiservers, real
// Karmada, two replicas of the add-on and an agent in each cell.
package features
