// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package floors represents the cells of a deployment's copy on the hub as members of its disruption budget. It reads
// and writes nothing.
package floors
