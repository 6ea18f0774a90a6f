// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// TestOnARealNetwork: listeners that end are Lost, and are back when they listen again. The rule is replaced, since they are at loopback
// addresses.
func TestOnARealNetwork(t *testing.T) {
	address := func(listener net.Listener) Target {
		port := portOf(t, listener.Addr().String())
		return Target{City: fmt.Sprint(port), Address: "127.0.0.1", Ports: [2]int32{port}}
	}
	open := func(address string) net.Listener {
		listener, err := net.Listen("tcp", address) //nolint:noctx // the test closes it
		if err != nil {
			t.Fatal(err)
		}
		return listener
	}
	first, second := open("127.0.0.1:0"), open("127.0.0.1:0")
	defer second.Close() //nolint:errcheck // a test's
	synctest.Test(t, func(t *testing.T) {
		n := start(t, func(n *network) {
			n.question = n.ask
			n.asker.allows, n.asker.decoys = func(ip netip.Addr, resolved bool) bool { return ip.IsLoopback() && !resolved }, decoysAt("127.0.0.99")
		})
		dies, stays := address(first), address(second)
		n.Set(workload("north", "web"), []Target{dies, stays}, nil)
		n.pass(2 * interval)
		n.want(t, Answers, dies, stays)
		_ = first.Close()
		n.pass(10 * time.Second)
		n.want(t, Lost, dies)
		n.want(t, Answers, stays)
		first = open(first.Addr().String())
		n.pass(2 * interval)
		n.want(t, Answers, dies, stays)
		_ = first.Close()
	})
}

// TestAHostNameThatMoves: a name is resolved twice a minute, and at once after a failure: its load balancer may have moved.
func TestAHostNameThatMoves(t *testing.T) {
	stays, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // the test closes it
	if err != nil {
		t.Fatal(err)
	}
	defer stays.Close() //nolint:errcheck // a test's
	port := portOf(t, stays.Addr().String())
	earlier, err := net.Listen("tcp", net.JoinHostPort("127.0.0.2", itoa(port))) //nolint:noctx // the test closes it
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		resolved, to := 0, "127.0.0.2"
		n := start(t, func(n *network) {
			n.question = n.ask
			n.asker.allows, n.asker.decoys = func(ip netip.Addr, _ bool) bool { return ip.IsLoopback() }, decoysAt("127.0.0.99")
			n.asker.resolve = func(context.Context, string, string) ([]netip.Addr, error) {
				n.mu.Lock()
				defer n.mu.Unlock()
				if resolved++; to == "" {
					return nil, &net.DNSError{IsTimeout: true}
				}
				return []netip.Addr{netip.MustParseAddr(to)}, nil
			}
		})
		named := Target{City: "DFW", Address: "lb.example.com", Ports: [2]int32{port}}
		n.Set(workload("north", "web"), []Target{named, {City: "ORD", Address: "127.0.0.1", Ports: [2]int32{port}}}, nil)
		n.pass(70 * time.Second)
		n.want(t, Answers, named)
		if resolved != 3 {
			t.Errorf("it is resolved %d times in 70 seconds", resolved)
		}
		n.requested()
		_ = earlier.Close()
		n.change(func() { to = "127.0.0.1" }, time.Minute)
		n.want(t, Answers, named)
		if got := n.requested(); len(got) > 0 {
			t.Error("it was lost for a moment")
		}
		n.change(func() { to = "" }, time.Minute)
		n.want(t, Answers, named)
	})
}
