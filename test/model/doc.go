// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model checks rollouts and disruption budgets together: a random simulation of the hub's two replicas, the
// copies on the hub, and cells that replace and drain Instances, with messages that are lost, late, repeated and out of
// order. Cities leave, come and are scaled in the middle of that, rollouts start additional Instances, and override
// policies change what cells run. In one world of five nothing rolls out: there the budget is checked alone, with cells that
// report counts that they invent, and that vanish. It is the only simulation of hub/deployments/rollout and internal/budget.
package model
