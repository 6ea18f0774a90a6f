// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crds has the definitions of kinds of Milo and of its services, for tests and for platforms that lack one of
// them.
package crds

import "embed"

// Files are the definitions, one file for each kind.
//
//go:embed *.yaml
var Files embed.FS
