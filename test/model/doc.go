// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model checks rollouts and disruption budgets together: a random simulation of the hub's two replicas, the
// copies on the hub, and cells that replace and drain Instances, with messages that are lost, late, repeated and out of
// order. Cities leave, come and are scaled in the middle of that. hub/deployments/rollout and internal/budget have a simulation
// each of their own, with what each meets alone: additional Instances there, counts that a cell invents here.
package model
