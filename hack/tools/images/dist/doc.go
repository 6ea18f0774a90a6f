// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dist makes the files of a release from what is compiled: archives, checksums, notes, the chart, manifests of
// package indexes and the provenance. The same input gives the same bytes.
package dist
