// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
)

func TestSummaryAndTable(t *testing.T) {
	found := []leftover{{"hub", "works", 2}, {"hub", "resourcebindings", 0}, {"cell/dfw", "pods", 1}}
	if got, want := summary(found), "left: 2 works in hub, 1 pods in cell/dfw"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	running := []leftover{{"hub", "works", 4}, {"hub", "resourcebindings", 2}, {"cell/dfw", "pods", 3}}
	want := []string{
		"PLANE     KIND              RUNNING  LEFT",
		"hub       works             4        2",
		"          resourcebindings  2        0",
		"cell/dfw  pods              3        1",
	}
	if got := leftoverTable(running, found); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := summary(found[1:2]); got != "nothing is left" {
		t.Errorf("got %q", got)
	}
}
