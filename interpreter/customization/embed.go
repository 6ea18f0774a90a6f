// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package customization holds the operations of package interpreter a second time, in Lua: what Karmada runs itself,
// where no webhook can be reached, such as in the cells of pull mode.
//
// The Lua stands in lua, a file per operation and what they share. `make generate` puts it together with the facts that
// Go knows. The cases in ../testdata, and random ones, hold for both.
//
// What Karmada's Lua makes equal is not told apart: an empty object from an empty list, null from missing, and
// integers from 2^53 on. What an operation does not read is not checked.
package customization

import _ "embed"

// YAML is the ResourceInterpreterCustomization.
//
//go:embed customization.yaml
var YAML []byte
