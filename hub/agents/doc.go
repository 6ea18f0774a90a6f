// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agents watches on the hub whether every cell has a working agent of the add-on, which Karmada reports in the binding
// of the agents' Deployment. It says so in a condition of the cell's Cluster and in a metric.
package agents
