// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// local asks listeners of tests.
var local = asker{allows: func(netip.Addr, bool) bool { return true }, decoys: decoysAt("127.0.0.99")}

// decoysAt are decoys at a loopback address, which answers where a test listens there.
func decoysAt(address string) *decoys {
	d := newDecoys()
	d.v4 = netip.MustParseAddr(address)
	return d
}

var loopback = []netip.Addr{netip.MustParseAddr("127.0.0.1")}

// listen returns a listener on a loopback address, and its port. It counts its connections.
func listen(t *testing.T, serve func(net.Conn)) (port int32, connections *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	connections = &atomic.Int32{}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go func() {
				defer conn.Close() //nolint:errcheck // a test's
				serve(conn)
			}()
		}
	}()
	return portOf(t, listener.Addr().String()), connections
}

func portOf(t *testing.T, address string) int32 {
	t.Helper()
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return int32(parsed.Port())
}

// closed is a port on which no listener is.
func closed(t *testing.T) int32 {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends at once
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // a test's
	return portOf(t, listener.Addr().String())
}

// TestConnections: an address answers if it accepts a connection at one of its ports.
func TestConnections(t *testing.T) {
	t.Parallel()
	open, _ := listen(t, func(net.Conn) {})
	for name, test := range map[string]struct {
		ports [2]int32
		want  outcome
	}{
		"a listener":        {[2]int32{open}, answered},
		"no listener":       {[2]int32{closed(t)}, failed},
		"the second port":   {[2]int32{closed(t), open}, answered},
		"none of two ports": {[2]int32{closed(t), closed(t)}, failed},
	} {
		if got := local.ask(t.Context(), &Target{Ports: test.ports}, loopback, false); got != test.want {
			t.Errorf("%s gives %d, want %d", name, got, test.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := local.ask(ended, &Target{Ports: [2]int32{closed(t)}}, loopback, false); got != notAsked {
		t.Errorf("a replica that ends takes %d for the answer", got)
	}
}

// TestRequests: the status decides. A redirect is not followed, the body is not read, the Host is the DNS name, and no credential and no
// proxy of the environment is used.
func TestRequests(t *testing.T) {
	elsewhere, strays := listen(t, func(net.Conn) {})
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, "http://user:secret@127.0.0.1:"+itoa(elsewhere))
	}
	var heads atomic.Value
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heads.Store(strings.Join([]string{r.Method, r.Host, r.RequestURI, r.Header.Get("Authorization") + r.Header.Get("Cookie")}, " "))
		serve(w, r, "http://127.0.0.1:"+itoa(elsewhere)+"/")
	})
	plain, encrypted := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	ports := map[bool]int32{
		false: portOf(t, plain.Listener.Addr().String()), true: portOf(t, encrypted.Listener.Addr().String()),
	}
	for path, want := range map[string]outcome{
		"/": answered, "/moved": answered, "/early": answered, "/399": answered, "/400": failed, "/503": failed, "/endless": answered,
		"/head": failed, "//127.0.0.1/a?b=/c#d": answered,
	} {
		for secure, port := range ports {
			target := &Target{Ports: [2]int32{port}, Path: path, Host: "web.example.com", Secure: secure}
			if got := local.ask(t.Context(), target, loopback, false); got != want {
				t.Errorf("%s (HTTPS %v) gives %d, want %d", path, secure, got, want)
			}
			sent, _, _ := strings.Cut(path, "#")
			if got := heads.Load(); got != "GET web.example.com "+sent+" " {
				t.Errorf("the request for %s is %q", path, got)
			}
		}
	}
	if strays.Load() > 0 {
		t.Error("a redirect is followed, or a proxy is used")
	}
	for name, target := range map[string]*Target{
		"HTTP to a port of TLS":     {Ports: [2]int32{ports[true]}, Path: "/", Host: "web.example.com"},
		"TLS to a port of HTTP":     {Ports: [2]int32{ports[false]}, Path: "/", Host: "web.example.com", Secure: true},
		"a port without a listener": {Ports: [2]int32{closed(t)}, Path: "/", Host: "web.example.com"},
	} {
		if got := local.ask(t.Context(), target, loopback, false); got != failed {
			t.Errorf("%s gives %d", name, got)
		}
	}
	half := &Target{Ports: [2]int32{ports[false]}, Path: "/%2", Host: "web.example.com"}
	if got := local.ask(t.Context(), half, loopback, false); got != notAsked {
		t.Errorf("a path that is no path gives %d", got)
	}
}

// serve answers a request as its path says.
func serve(w http.ResponseWriter, r *http.Request, elsewhere string) {
	switch r.URL.Path {
	case "/moved":
		http.Redirect(w, r, elsewhere, http.StatusMovedPermanently)
	case "/early":
		w.WriteHeader(http.StatusEarlyHints)
	case "/399":
		w.WriteHeader(399)
	case "/400":
		w.WriteHeader(http.StatusBadRequest)
	case "/503":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "/endless":
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	case "/head":
		w.Header().Set("Large", strings.Repeat("a", 2*maxHead))
	}
}

func itoa(port int32) string { return strconv.Itoa(int(port)) }

// TestAnAddressThatIsSilent: a listener that never writes, and one that never ends its head, are bounded by the timeout.
func TestAnAddressThatIsSilent(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(net.Conn){
		"never writes": func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
		"never ends its answers": func(conn net.Conn) {
			for {
				if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\n\r\n"); err != nil {
					return
				}
			}
		},
	} {
		for _, secure := range []bool{false, true} {
			port, _ := listen(t, serve)
			began := time.Now()
			target := &Target{Ports: [2]int32{port}, Path: "/", Host: "web.example.com", Secure: secure}
			if got := local.ask(t.Context(), target, loopback, false); got != failed || time.Since(began) > 2*timeout {
				t.Errorf("one that %s (HTTPS %v) gives %d after %s", name, secure, got, time.Since(began))
			}
		}
	}
}

// TestTheRuleOfProduction: no replica connects to a loopback address, to another address that the rule refuses, or to its own API server,
// whatever a resolver says, and none of this is an answer.
func TestTheRuleOfProduction(t *testing.T) {
	t.Parallel()
	port, connections := listen(t, func(net.Conn) {})
	p := New(Options{Servers: []string{"https://hub.example.com:6443/path", "198.51.100.1", "198.51.100.3:443"}})
	p.rule.learn(t.Context(), func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if ip, err := netip.ParseAddr(host); err == nil {
			return []netip.Addr{ip}, nil
		}
		return []netip.Addr{netip.MustParseAddr("::ffff:198.51.100.2")}, nil
	})
	for _, refused := range []string{
		"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "0.0.0.0", "0.1.2.3", "::", "169.254.169.254", "fe80::1", "fe80::1%lo", "224.0.0.1",
		"ff02::1", "255.255.255.255", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "168.63.129.16", "198.51.100.1",
		"198.51.100.2", "198.51.100.3",
		"::ffff:198.51.100.1",
	} {
		ip := netip.MustParseAddr(refused)
		for _, resolved := range []bool{false, true} {
			if p.asker.allows(ip, resolved) {
				t.Errorf("%s is allowed (resolved %v)", refused, resolved)
			}
			if got := p.asker.ask(t.Context(), &Target{Ports: [2]int32{port}}, []netip.Addr{ip}, resolved); got != notAsked {
				t.Errorf("%s gives %d", refused, got)
			}
		}
	}
	for _, private := range []string{"10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "fd12::1"} {
		if ip := netip.MustParseAddr(private); !p.asker.allows(ip, false) || p.asker.allows(ip, true) {
			t.Errorf("%s is refused in the operator's ranges, or allowed behind a name", private)
		}
	}
	for _, public := range []string{"203.0.113.7", "2001:db8::7"} {
		if ip := netip.MustParseAddr(public); !p.asker.allows(ip, false) || !p.asker.allows(ip, true) {
			t.Errorf("%s is refused", public)
		}
	}
	// A dialer that resolves by itself is not used. If it were, its socket would be checked, too.
	for _, name := range []string{"localhost", "127.0.0.1"} {
		to := net.JoinHostPort(name, itoa(port))
		if err := try(t.Context(), &net.Dialer{Control: p.asker.control(true)}, &Target{}, to); !errors.Is(err, errRefused) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if connections.Load() > 0 {
		t.Error("the replica has connected to itself")
	}
}

// TestNamesThatResolve: a host name is asked at the addresses that were checked, at a bounded number of them, and a name that does not
// resolve is not asked.
func TestNamesThatResolve(t *testing.T) {
	t.Parallel()
	port, connections := listen(t, func(net.Conn) {})
	var asked []string
	answers := [][]netip.Addr{{netip.MustParseAddr("203.0.113.7")}, loopback, {}}
	p := New(Options{})
	p.asker.resolve = func(_ context.Context, _, host string) ([]netip.Addr, error) {
		asked = append(asked, host)
		if len(answers) == 0 {
			return nil, &net.DNSError{IsTimeout: true}
		}
		answer := answers[0]
		answers = answers[1:]
		return answer, nil
	}
	if ips, resolved, err := p.asker.find(t.Context(), "lb.example.com"); err != nil || !resolved || !p.asker.allows(ips[0], true) {
		t.Errorf("found are %v, %v", ips, err)
	}
	for _, name := range []string{"a second answer of the resolver is a loopback address", "no address", "no answer"} {
		ips, resolved, err := p.asker.find(t.Context(), "lb.example.com")
		if got := p.asker.ask(t.Context(), &Target{Ports: [2]int32{port}}, ips, resolved); got != notAsked {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	if got := strings.Join(asked, " "); got != strings.TrimSpace(strings.Repeat("lb.example.com. ", 4)) || connections.Load() > 0 {
		t.Errorf("asked for are %s, with %d connections", got, connections.Load())
	}
	p.asker.resolve = func(context.Context, string, string) ([]netip.Addr, error) { return make([]netip.Addr, 1000), nil }
	if ips, _, err := p.asker.find(t.Context(), "lb.example.com"); err != nil || len(ips) != maxResolved {
		t.Errorf("%d addresses are asked, %v", len(ips), err)
	}
}
