// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cellreport writes and reads what cells report: the Instances of a deployment, and the inventory of a cell. It trusts no report:
// what it reads is bounded, and an entry counts only where the cell may have it.
package cellreport
