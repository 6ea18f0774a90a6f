// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"unicode/utf8"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// compactNodes is about how many Instances and groups of them a compact tree has.
	compactNodes = 400
	// leastApart is how many of them each city or cell has at least.
	leastApart = 5
	// compactBytes bounds a message in a compact tree.
	compactBytes = 500
)

// Compact returns the tree with groups of equal Instances and without conditions. Its size is bounded, whatever the
// Instances are: where too many differ, one node stands for the rest.
func (n *Node) Compact() *Node {
	result := n.grouped()
	result.shrink(max(leastApart, compactNodes/max(1, result.parents())))
	return result
}

// parents returns the number of nodes with Instances.
func (n *Node) parents() int {
	count, isParent := 0, false
	for _, child := range n.Children {
		isParent = isParent || child.Kind == v1alpha.KindInstance
		count += child.parents()
	}
	if isParent {
		count++
	}
	return count
}

// shrink shortens a tree that grouped has copied. most bounds the Instances and groups of one parent.
func (n *Node) shrink(limit int) {
	n.Conditions = nil
	n.Finding = n.Finding.shortened()
	var children []*Node
	kept, remaining := 0, (*Node)(nil)
	for _, child := range n.Children {
		if child.Kind == v1alpha.KindInstance {
			kept++
		}
		if child.Kind != v1alpha.KindInstance || kept <= limit {
			child.shrink(limit)
			children = append(children, child)
			continue
		}
		if remaining == nil {
			remaining = &Node{Kind: v1alpha.KindInstance, Name: "others", First: child.first()}
			children = append(children, remaining)
		}
		remaining.Instances += max(1, child.Instances)
	}
	n.Children = children
}

// first returns the name of the first Instance that a node is for.
func (n *Node) first() string {
	if n.First != "" {
		return n.First
	}
	return n.Name
}

// shortened returns a copy of a finding with a bounded message. f may be nil.
func (f *Finding) shortened() *Finding {
	if f == nil {
		return nil
	}
	result := *f
	result.Message = Shortened(f.Message)
	return &result
}

// Shortened returns the beginning of a text that is too long for one line among many.
func Shortened(text string) string {
	if len(text) <= compactBytes {
		return text
	}
	end := compactBytes
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimSpace(text[:end]) + "…"
}

// From returns at most `most` Instances of a tree, without conditions, from the one with a name on, in the city or cell
// of that one; nil: there is no such Instance.
func (n *Node) From(name string, limit int) []*Node {
	for i, child := range n.Children {
		if child.Kind != v1alpha.KindInstance || child.Name != name {
			if found := child.From(name, limit); found != nil {
				return found
			}
			continue
		}
		var result []*Node
		for _, instance := range n.Children[i:min(len(n.Children), i+limit)] {
			if instance.Kind == v1alpha.KindInstance {
				shown := *instance
				shown.shrink(0)
				result = append(result, &shown)
			}
		}
		return result
	}
	return nil
}

// Short returns the verdict with a bounded message and few names, and how many names it has left out.
func (v Verdict) Short() (short Verdict, more int) {
	stop := *v.Stop
	stop.Finding = stop.Finding.shortened()
	short = Verdict{Stop: &stop, Names: v.Names}
	if len(v.Names) > mostNames+1 {
		short.Names, more = v.Names[:mostNames], len(v.Names)-mostNames
	}
	return short, more
}
