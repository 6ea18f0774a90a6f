// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package policies

import "embed"

// Files are the static YAML files of this folder, by name.
//
//go:embed *.yaml
var Files embed.FS
