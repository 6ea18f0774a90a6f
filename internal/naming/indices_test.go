// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func TestIndicesAsText(t *testing.T) {
	for text, want := range map[string][]int{
		"": nil, "0": {0}, "0-2,7": {0, 1, 2, 7}, "7,0-2,1": {0, 1, 2, 7}, "x,-1,2-,-,3-1,4": {4}, "0-99999": nil, "1-1": {1}, "70000": nil,
	} {
		got := naming.Parse(text)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if again := naming.Parse(naming.Format(got)); !slices.Equal(again, got) {
			t.Errorf("%v became %v", got, again)
		}
	}
	if got := naming.Format([]int{7, 1, 0, 2, 9, 8}); got != "0-2,7-9" {
		t.Errorf("got %q", got)
	}
}
