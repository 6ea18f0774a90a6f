// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestSlicesCoverEveryIndex: each index from InlineInstances on is in one slice, the slice with its number in the name.
func TestSlicesCoverEveryIndex(t *testing.T) {
	for index := range 10000 {
		number, sliced := naming.SliceOf(index)
		if sliced != (index >= naming.InlineInstances) {
			t.Fatalf("%d: sliced %t", index, sliced)
		}
		want := 0
		if sliced {
			want = number + 1
			within := naming.SliceRange(number)
			if index < int(within.First) || index > int(within.Last) || number >= naming.MaxSlices || within.Last > 9999 {
				t.Fatalf("%d is in slice %d, which has %+v", index, number, within)
			}
			deployment, parsed, ok := naming.ParseSliceName(naming.SliceName("web-16", number))
			if !ok || deployment != "web-16" || parsed != number {
				t.Fatalf("slice %d is read as %s, %d, %t", number, deployment, parsed, ok)
			}
		}
		if got := naming.SlicesFor(index); got != want {
			t.Fatalf("%d needs %d slices, want %d", index, got, want)
		}
	}
	if got := naming.SlicesFor(-1); got != 0 {
		t.Errorf("nothing needs %d slices", got)
	}
	for _, name := range []string{"", "web", "-16", "web-", "web-17", "web-016", "web-+16", "web-0", "web-99999", "web-10000"} {
		if deployment, number, ok := naming.ParseSliceName(name); ok {
			t.Errorf("%q is slice %d of %s", name, number, deployment)
		}
	}
}
