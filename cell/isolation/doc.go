// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package isolation reads WorkloadDeployments and Instances of the cell and writes NetworkPolicies: one that denies
// every connection to the Pods of a namespace, and one for each template, which admits its network or the peers that
// its rules name.
package isolation
