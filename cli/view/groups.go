// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// shownApart is how many Instances of a deployment, or of a cell, have a line each. Of more, equal neighbours share one.
const shownApart = 10

// grouped returns the tree with one node for each run of equal Instances, where there are many.
func (n *Node) grouped() *Node {
	result := *n
	result.Children = nil
	many := 0
	for _, child := range n.Children {
		if child.Kind == v1alpha.KindInstance {
			many++
		}
	}
	for at := 0; at < len(n.Children); {
		end := at + 1
		for many > shownApart && end < len(n.Children) && n.Children[at].looksLike(n.Children[end]) {
			end++
		}
		if end-at > 2 {
			result.Children = append(result.Children, groupOf(n.Children[at:end]))
			at = end
			continue
		}
		result.Children = append(result.Children, n.Children[at].grouped())
		at++
	}
	return &result
}

// groupOf returns the node of equal Instances. Its address is their number.
func groupOf(instances []*Node) *Node {
	first, last := instances[0], instances[len(instances)-1]
	result := *first
	result.Name = fmt.Sprintf("%s to %s", first.Name, last.Name[strings.LastIndex(last.Name, "-"):])
	result.Address = fmt.Sprintf("%d Instances", len(instances))
	result.Instances, result.First = len(instances), first.Name
	return &result
}

// looksLike reports whether the lines of two Instances differ only by name and address.
func (n *Node) looksLike(other *Node) bool {
	if n.Kind != v1alpha.KindInstance || other.Kind != v1alpha.KindInstance {
		return false
	}
	if (n.Finding == nil) != (other.Finding == nil) || n.Finding != nil && n.Finding.Message != other.Finding.Message {
		return false
	}
	return n.State == other.State && n.Reason == other.Reason && n.Template == other.Template && n.Restarts == other.Restarts &&
		n.DataHash == other.DataHash && n.NewerData == other.NewerData
}
