// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cities

import (
	"fmt"
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestDistinctAddresses: the same addresses remain, in whatever order they are given and however many there are.
func TestDistinctAddresses(t *testing.T) {
	var addresses []v1alpha.EndpointAddress
	for i := range 50 {
		one := v1alpha.EndpointAddress{Type: v1alpha.EndpointAddressIP, Value: fmt.Sprintf("203.0.113.%d", 100+i)}
		addresses = append(addresses, one, one)
	}
	first := DistinctAddresses(addresses...)
	slices.Reverse(addresses)
	second := DistinctAddresses(addresses...)
	if !slices.Equal(first, second) || len(first) != maxAddresses || first[1].Value != "203.0.113.101" {
		t.Errorf("%v, and in another order %v", first, second)
	}
}
