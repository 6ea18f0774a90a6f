// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wire writes and reads what passes between planes: the reports of cells, which are the Instances of a
// deployment and the inventory of a cell, and objects of consumers. It does not trust them: it bounds every value, and
// an entry counts only if the cell may have it.
package wire
