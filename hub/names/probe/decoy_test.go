// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAProxyProvesNothing: where something accepts the connection to an address that no host has, the answer of another address at that
// port is not taken for its own. Other ports are asked as before.
func TestAProxyProvesNothing(t *testing.T) {
	t.Parallel()
	port, _ := listen(t, func(net.Conn) {})
	other, _ := listen(t, func(net.Conn) {})
	proxied, err := net.Listen("tcp", net.JoinHostPort("127.0.0.77", itoa(port))) //nolint:noctx // the test closes it
	if err != nil {
		t.Fatal(err)
	}
	defer proxied.Close() //nolint:errcheck // a test's
	asks := asker{allows: func(netip.Addr, bool) bool { return true }, decoys: decoysAt("127.0.0.77")}
	for name, test := range map[string]struct {
		ports [2]int32
		want  outcome
	}{
		"the port of the proxy":                 {[2]int32{port}, unproven},
		"another port":                          {[2]int32{other}, answered},
		"both ports":                            {[2]int32{port, other}, answered},
		"the proxy's and a port that is closed": {[2]int32{closed(t), port}, unproven},
	} {
		if got := asks.ask(t.Context(), &Target{Ports: test.ports}, loopback, false); got != test.want {
			t.Errorf("%s gives %d, want %d", name, got, test.want)
		}
	}
}

// TestAProxyComesAndGoes: the decoy is asked at most once a minute, however many addresses answer, and the next result counts.
func TestAProxyComesAndGoes(t *testing.T) {
	port, _ := listen(t, func(net.Conn) {})
	at := net.JoinHostPort("127.0.0.78", itoa(port))
	proxy, err := net.Listen("tcp", at) //nolint:noctx // the test closes it
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d := decoysAt("127.0.0.78")
		of := netip.MustParseAddrPort(net.JoinHostPort("127.0.0.1", itoa(port)))
		var asking sync.WaitGroup
		for range 100 {
			asking.Go(func() {
				if !d.answer(t.Context(), of) {
					t.Error("the proxy is not seen")
				}
			})
		}
		asking.Wait()
		_ = proxy.Close()
		if time.Sleep(decoyFor - time.Second); !d.answer(t.Context(), of) {
			t.Error("the decoy is asked again within a minute")
		}
		if time.Sleep(time.Second); d.answer(t.Context(), of) {
			t.Error("the proxy is gone, and counts")
		}
		if len(d.known) != 1 {
			t.Errorf("%d results are kept", len(d.known))
		}
	})
}
