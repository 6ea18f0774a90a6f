// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import "strings"

// expand replaces $(NAME) by the value of a variable, as Kubernetes does in commands, arguments and variables: $$ stands for $,
// and a reference to a variable that does not exist stays.
func expand(input string, lookup func(string) (string, bool)) string {
	var out strings.Builder
	for i := 0; i < len(input); i++ {
		if input[i] != '$' || i+1 == len(input) {
			out.WriteByte(input[i])
			continue
		}
		switch input[i+1] {
		case '$':
			out.WriteByte('$')
			i++
		case '(':
			name, _, found := strings.Cut(input[i+2:], ")")
			if !found {
				out.WriteString("$(")
				i++
				continue
			}
			out.WriteString(valueOr(lookup, name))
			i += len("(") + len(name) + len(")")
		default:
			out.WriteByte('$')
		}
	}
	return out.String()
}

func valueOr(lookup func(string) (string, bool), name string) string {
	if value, ok := lookup(name); ok {
		return value
	}
	return "$(" + name + ")"
}
