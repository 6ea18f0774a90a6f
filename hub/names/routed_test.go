// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestNamesWithoutAListener: a name does not get the addresses of a city whose Gateway has no listener for it.
func TestNamesWithoutAListener(t *testing.T) {
	t.Parallel()
	endpoints := []v1alpha.CityEndpoint{{City: "DFW", UnroutedHostnames: "a.example.com,b.example.com"}, {City: "ORD"}}
	for name, want := range map[string]int{"a.example.com": 1, "b.example.com": 1, "example.com": 2} {
		if got := routing(endpoints, name); len(got) != want || got[len(got)-1].City != "ORD" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
