// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fair decides whose turn it is among projects and cells, so that none of them delays the others.
package fair
