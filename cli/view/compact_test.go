// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// fleet has Instances in five cities. message is the message of the Instance with an index; "": it is Ready.
func fleet(perCity int, message func(index int) string) *Snapshot {
	s := &Snapshot{Name: "web", Workload: workload(0, int32(5*perCity))}
	for _, city := range []string{"AMS", "DFW", "FRA", "ORD", "SIN"} {
		s.Deployments = append(s.Deployments, deployment(city, 0, int32(perCity)))
		for index := range perCity {
			state := isReady
			if text := message(index); text != "" {
				state = condition(v1alpha.ConditionReady, "False", v1alpha.ReasonImageUnavailable, text)
			}
			s.Instances = append(s.Instances, instance(city, index, state))
		}
	}
	return s
}

func size(t *testing.T, n *Node) int {
	t.Helper()
	encoded, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return len(encoded)
}

// total returns the number of Instances that a tree is for.
func (n *Node) total() int {
	count := 0
	if n.Kind == v1alpha.KindInstance {
		count = max(1, n.Instances)
	}
	for _, child := range n.Children {
		count += child.total()
	}
	return count
}

// TestCompactOfEqualInstances: the size does not depend on their number.
func TestCompactOfEqualInstances(t *testing.T) {
	allReady := func(int) string { return "" }
	few, many := fleet(20, allReady).Tree().Compact(), fleet(1000, allReady).Tree().Compact()
	if s, l := size(t, few), size(t, many); l > 2*s {
		t.Errorf("100 Instances are %d bytes, 5000 are %d", s, l)
	}
	if got := many.total(); got != 5000 {
		t.Errorf("the tree is for %d Instances", got)
	}
	if group := many.Children[0].Children[0]; group.First != "web-main-ams-0" || group.Instances != 1000 || group.Conditions != nil {
		t.Errorf("got %+v", group)
	}
}

// TestCompactOfDifferentInstances: the size is bounded when each of 5000 Instances has a long message of its own.
func TestCompactOfDifferentInstances(t *testing.T) {
	s := fleet(1000, func(index int) string { return fmt.Sprintf("%d %s", index, strings.Repeat("ü", 16<<10)) })
	tree := s.Tree().Compact()
	if got := size(t, tree); got > 1<<19 {
		t.Errorf("the tree has %d bytes", got)
	}
	if got := tree.total(); got != 5000 {
		t.Errorf("the tree is for %d Instances", got)
	}
	last := tree.Children[4].Children
	if rest := last[len(last)-1]; rest.Name != "others" || rest.Instances != 920 || rest.First != "web-main-sin-80" {
		t.Errorf("the rest is %+v", rest)
	}
	if found := s.Tree().Children[0].Finding; found != nil && strings.HasSuffix(found.Message, "…") {
		t.Error("the snapshot itself is shortened")
	}
}

// TestFrom: Instances of a group are returned on demand, a bounded number in one answer.
func TestFrom(t *testing.T) {
	tree := fleet(1000, func(int) string { return "" }).Tree()
	found := tree.From("web-main-dfw-990", 200)
	if len(found) != 10 || found[0].Name != "web-main-dfw-990" || found[9].Name != "web-main-dfw-999" || found[0].Conditions != nil {
		t.Errorf("got %d: %+v", len(found), found)
	}
	if got := len(tree.From("web-main-dfw-0", 200)); got != 200 {
		t.Errorf("got %d", got)
	}
	if found := tree.From("web-main-dfw-1000", 200); found != nil {
		t.Errorf("got %+v", found)
	}
}

// TestShortVerdict: the names of 5000 stopped Instances are not in the summary of their cause.
func TestShortVerdict(t *testing.T) {
	s := fleet(1000, func(int) string { return strings.Repeat("no such image ", 1000) })
	verdicts := Verdicts(s.Ways())
	if len(verdicts) != 1 {
		t.Fatalf("got %d verdicts", len(verdicts))
	}
	short, more := verdicts[0].Short()
	if len(short.Names) != mostNames || more != 5000-mostNames || len(short.Stop.Finding.Message) > compactBytes+len("…") {
		t.Errorf("%d names, %d more, %d bytes", len(short.Names), more, len(short.Stop.Finding.Message))
	}
}
