// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
)

// TestOwnFor: the add-on of the checkout is compiled for every subcommand that starts it, and not if a release replaces
// it.
func TestOwnFor(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"demo"}, addOn},
		{[]string{"up", "--add-on", "--projects=north"}, addOn},
		{[]string{"up", "--add-on", "--released=/release"}, []string{karmadactl}},
		{[]string{"up", "--add-on", "--released", "/release"}, []string{karmadactl}},
	} {
		if got := ownFor(c.args); !slices.Equal(got, c.want) {
			t.Errorf("%v compiles %v, want %v", c.args, got, c.want)
		}
	}
}
