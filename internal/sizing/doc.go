// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sizing calculates the resources of Instances and their containers, and compares them with the granted quota.
package sizing
