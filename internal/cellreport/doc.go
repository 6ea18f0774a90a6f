// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cellreport writes and reads the reports of cells: the Instances of a deployment, and the inventory of a cell. It does not
// trust reports: it bounds every value, and an entry counts only if the cell may have it.
package cellreport
