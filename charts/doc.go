// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package charts embeds the chart of the add-on, the one source of its manifests, and renders it without a cluster.
package charts
