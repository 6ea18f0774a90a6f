// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package isolation reads WorkloadDeployments and Instances of the cell and writes NetworkPolicies: one that keeps a project's
// namespace apart from those of others, and one for each template that lets somebody in.
package isolation
