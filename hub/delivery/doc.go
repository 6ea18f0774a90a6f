// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package delivery judges the way of one WorkloadDeployment from its copy on the hub through Karmada to its cells and back: what
// is wrong on it, since when, and what makes Karmada go on. It only reads, from the hub's cache.
package delivery
