// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"net/netip"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestGatewayAddress: the Gateway of a cell has an address that the cell may report, and that its load balancers give no Service.
func TestGatewayAddress(t *testing.T) {
	within := LoadBalancerRange(lowestPort)
	at, err := GatewayAddress(within.String())
	if err != nil || !within.Contains(netip.MustParseAddr(at)) {
		t.Fatalf("%s is not within %s: %v", at, within, err)
	}
	balancers := &LoadBalancers{Port: lowestPort, served: map[types.UID]*balanced{}}
	for one := balancers.free(); one != ""; one = balancers.free() {
		if one == at {
			t.Fatalf("a Service gets %s", at)
		}
		balancers.served[types.UID(one)] = &balanced{address: one}
	}
	if _, err := GatewayAddress("nowhere"); err == nil {
		t.Error("a range that cannot be read has an address")
	}
}
