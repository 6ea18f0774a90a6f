// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestOverriddenInstances: the project hears which Instances of a cell wait for an override policy. Indices that the cell
// does not have are dropped, and a report without a hash has none.
func TestOverriddenInstances(t *testing.T) {
	t.Parallel()
	of := &indicesOf{existing: []int{0, 1, 4}}
	for _, test := range []struct{ listed, hash, want, wantHash string }{
		{"0-1", "mirror", "0-1", "mirror"},
		{"1-9999,0-4", "mirror", "0-1,4", "mirror"},
		{"2-3", "mirror", "", ""},
		{"0-4", "", "", ""},
		{"", "mirror", "", ""},
	} {
		got := of.format(&v1alpha.CellIndices{Cell: "dfw", Overridden: test.listed, OverriddenHash: test.hash}, "newest")
		if got.Overridden != test.want || got.OverriddenHash != test.wantHash {
			t.Errorf("%q of %q is shown as %q of %q", test.listed, test.hash, got.Overridden, got.OverriddenHash)
		}
	}
}
