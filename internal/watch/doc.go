// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package watch filters the events of watches, and trims objects for the caches that watches fill.
package watch
