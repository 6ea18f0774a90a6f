// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// takeNumbers makes the quantities of a Workload's template numbers or strings: a Pod takes cpu: 0.5, and
// controller-gen gives a quantity the schema of an integer or a string. Other kinds are written by controllers, whose
// quantities are strings; rules of other parts of a Workload need the type.
func takeNumbers(document *yaml.Node, lines []string) {
	root := document
	if root.Kind == yaml.DocumentNode {
		root = root.Content[0]
	}
	if kind := value(value(value(root, "spec"), "names"), "kind"); kind == nil || kind.Value != "Workload" {
		return
	}
	versions := value(value(root, "spec"), "versions")
	if versions == nil || len(versions.Content) == 0 {
		return
	}
	template := value(value(versions.Content[0], "schema"), "openAPIV3Schema")
	for _, name := range []string{"spec", "template"} {
		template = value(value(template, "properties"), name)
	}
	eachQuantity(template, func(schema *yaml.Node) {
		types := value(schema, "anyOf").Content
		set := func(line int, text string) {
			indent := lines[line-1][:len(lines[line-1])-len(strings.TrimLeft(lines[line-1], " "))]
			lines[line-1] = indent + strings.ReplaceAll(text, "\n", "\n"+indent)
		}
		// A structural schema names no other pair of types: it excludes all others instead.
		set(types[0].Line-1, "not:")
		set(types[0].Line, "  enum: [true, false, {}, []]")
		set(types[1].Line, "maxItems: 0\nmaxProperties: 0")
		set(value(schema, "x-kubernetes-int-or-string").Line, "x-kubernetes-preserve-unknown-fields: true")
	})
}

// eachQuantity calls f for the schemas of quantities: unlike other integers or strings, they have a pattern.
func eachQuantity(node *yaml.Node, f func(schema *yaml.Node)) {
	if node == nil {
		return
	}
	for _, child := range node.Content {
		eachQuantity(child, f)
	}
	if value(node, "x-kubernetes-int-or-string") != nil && value(node, "pattern") != nil && value(node, "anyOf") != nil {
		f(node)
	}
}
