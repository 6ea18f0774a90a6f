// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sizing calculates what Instances and their containers take of each resource, and compares it with the granted quota.
package sizing
