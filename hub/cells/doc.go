// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cells reads the hub's Clusters: the cells of each city, whether they are Ready, and whether their agents run.
// It decides which city a Cluster belongs to, writes conditions of Clusters, and deletes the Works of cells that are
// lost permanently.
package cells
