// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package customization has the operations of package interpreter in Lua, which Karmada runs itself. It needs no
// webhook, which the agents of cells in pull mode often cannot reach.
//
// The sources are in lua: a file per operation, and files that several operations share. `make generate` joins them
// with the constants and types of the Go packages. The cases in ../testdata, and random cases, are tested with both.
//
// Karmada's Lua does not distinguish an empty object from an empty list, nor null from a missing member. Integers from
// 2^53 on are rounded there, and the scripts refuse them. Members that an operation does not read are not checked.
//
// Karmada ends a script after one second of wall-clock time, which includes parsing the script and converting the
// object: on an overloaded machine the report of a thousand Instances may fail. The webhook has no such limit.
package customization

import _ "embed"

// YAML is the ResourceInterpreterCustomization.
//
//go:embed customization.yaml
var YAML []byte
