// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package customization holds the operations of package interpreter a second time, in Lua: what Karmada runs itself,
// where no webhook can be reached, such as in the cells of pull mode.
//
// The Lua stands in lua, a file per operation and what they share. `make generate` puts it together with the facts that
// Go knows. The cases in ../testdata, and random ones, hold for both.
//
// What Karmada's Lua makes equal is not told apart: an empty object from an empty list, and null from missing. Integers
// from 2^53 on have been rounded and are refused where they are read. What an operation does not read is not checked.
//
// Karmada stops a script after a second by the clock, with all that it does to read the script and the object: on a
// machine with nothing to spare a report of a thousand Instances may not get through. The webhook has no such limit.
package customization

import _ "embed"

// YAML is the ResourceInterpreterCustomization.
//
//go:embed customization.yaml
var YAML []byte
