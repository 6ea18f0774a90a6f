// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts

import "embed"

// FS has the folder karmada-compute with the chart.
//
//go:embed all:karmada-compute
var FS embed.FS
