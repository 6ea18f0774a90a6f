// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides about one Workload: Make gets Facts and returns a Plan, which are the writes to make now, in their order,
// and Plan.Status sums up the deployments as those writes have left them. Both are pure: hub/deployments reads the facts and
// makes the writes. The plan remembers nothing: what a later plan must know is in the objects, so that any replica continues.
//
// Make decides in this order: choose (which candidates), place (which deployments), size (their instance types), roll (which of them
// get the template now), divide (the disruption budget), withdraw (an exposure that ends), keep (the deployments themselves) and
// remove (deployments that the Workload does not want).
package plan
