// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which Instances of a Workload get a new template next. It is pure: Next reads a State, which
// hub/deployments builds from the project, and returns steps. Every step changes one WorkloadDeployment, so that a kill
// between two of them leaves a state from which Next continues.
package rollout
