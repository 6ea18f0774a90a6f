// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package forget reads on the hub which cells are gone for good, and drops the Works that Karmada keeps for them: it lets those
// go that wait for a cell which will not answer again. It says so in a condition of the cell's Cluster. Everything else that is
// kept for such a cell is dropped by the controllers that made it, which no longer count it among the cells of its city.
package forget
