// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package quota reads the hub's copies of WorkloadDeployments and the ResourceClaims and AllowanceBuckets of projects,
// maintains a claim in the project for each Instance, and writes into the copies which Instances are granted quota, and
// why others are not.
package quota
