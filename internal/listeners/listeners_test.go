// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package listeners

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/testenv/flood"
)

// serve serves on loopback. A request with a header proves its caller.
func serve(t *testing.T, bounds Bounds, timeouts Timeouts) (address string, listener *Listener) {
	t.Helper()
	listener, err := Listen(t.Context(), "127.0.0.1:0", bounds)
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proof") != "" {
			Prove(r.Context())
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestTimeout)
			return
		}
		fmt.Fprintf(w, "%d bytes", len(body))
	}), timeouts)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, server, listener, 0) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String(), listener
}

// caller is a caller with one connection.
type caller struct {
	net.Conn
	answers *bufio.Reader
}

func dial(t *testing.T, address, source string) *caller {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	connection, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return &caller{connection, bufio.NewReader(connection)}
}

// ask sends a request, and returns the status.
func (c *caller) ask(header string) (int, error) {
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", header); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

const proof = "Proof: yes\r\n"

var roomy = Timeouts{Header: time.Minute, Body: time.Minute, Answer: time.Minute, Idle: time.Minute}

// TestShares verifies that too many connections cost the source with most of them its oldest one, and never a caller
// that has proved who it is.
func TestShares(t *testing.T) {
	address, listener := serve(t, Bounds{Unproved: 6, PerSource: 4, Proved: 2, First: time.Minute}, roomy)
	proved := dial(t, address, "127.0.0.1")
	if status, err := proved.ask(proof); status != http.StatusOK || err != nil {
		t.Fatal(status, err)
	}
	neighbour := dial(t, address, "127.0.0.3")
	if _, err := neighbour.ask(""); err != nil {
		t.Fatal(err)
	}
	held := flood.Hold(t, address, flood.Options{Connections: 50})
	held.AwaitAlive(t, 4, 10*time.Second)
	other := flood.Hold(t, address, flood.Options{Connections: 50, Source: "127.0.0.2"})
	other.AwaitAlive(t, 4, 10*time.Second)
	for name, one := range map[string]*caller{"the proved caller": proved, "the neighbour": neighbour} {
		if status, err := one.ask(""); status != http.StatusOK || err != nil {
			t.Errorf("%s is cut off: %d, %v", name, status, err)
		}
	}
	if alive := held.Alive() + other.Alive(); alive > 5 || alive < 3 {
		t.Errorf("%d connections of the flood are open", alive)
	}
	// The share of proved callers has an end, too.
	second, third := dial(t, address, "127.0.0.1"), dial(t, address, "127.0.0.1")
	for _, one := range []*caller{second, third} {
		if _, err := one.ask(proof); err != nil {
			t.Fatal(err)
		}
	}
	listener.mu.Lock()
	defer listener.mu.Unlock()
	if listener.proved != 2 || listener.unproved > 6 {
		t.Errorf("%d connections are proved, %d are not", listener.proved, listener.unproved)
	}
}

// TestClosedConnectionsAreForgotten verifies that a closed connection makes room, whether it was proved or not.
func TestClosedConnectionsAreForgotten(t *testing.T) {
	address, listener := serve(t, Bounds{Unproved: 2, PerSource: 2, Proved: 1, First: time.Minute}, roomy)
	for range 10 {
		for _, header := range []string{"", proof} {
			one := dial(t, address, "127.0.0.1")
			if status, err := one.ask(header); status != http.StatusOK || err != nil {
				t.Fatal(status, err)
			}
			_ = one.Close()
		}
	}
	eventually(t, func() bool {
		listener.mu.Lock()
		defer listener.mu.Unlock()
		return listener.proved == 0 && listener.unproved == 0 && len(listener.sources) == 0
	})
}

func eventually(t *testing.T, met func() bool) {
	t.Helper()
	deadline, ticker := time.NewTimer(10*time.Second), time.NewTicker(10*time.Millisecond)
	defer deadline.Stop()
	defer ticker.Stop()
	for !met() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatal("it is not met")
		}
	}
}

// TestSteps verifies that each step of a request has an end.
func TestSteps(t *testing.T) {
	short, bounds := 300*time.Millisecond, Bounds{Unproved: 10, PerSource: 10, Proved: 10, First: time.Minute}
	for name, c := range map[string]struct {
		first    time.Duration
		timeouts Timeouts
		sent     string
		// answers is the part of the answer that the caller gets before the end.
		answers string
	}{
		"nothing is sent":         {short, roomy, "", ""},
		"headers that do not end": {time.Minute, Timeouts{Header: short, Body: time.Minute, Idle: time.Minute}, "GET / HTTP/1.1\r\nHost:", ""},
		"a body that does not come": {
			time.Minute,
			Timeouts{Header: time.Minute, Body: short, Idle: time.Minute},
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na", "408",
		},
		"no second request": {
			time.Minute, Timeouts{Header: time.Minute, Body: time.Minute, Idle: short}, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "200",
		},
		"a port of single questions": {
			time.Minute, Timeouts{Header: time.Minute, Body: time.Minute}, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "Connection: close",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := bounds
			limits.First = c.first
			address, _ := serve(t, limits, c.timeouts)
			one := dial(t, address, "127.0.0.1")
			if _, err := io.WriteString(one, c.sent); err != nil {
				t.Fatal(err)
			}
			if err := one.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(one)
			if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() || !strings.Contains(string(got), c.answers) {
				t.Errorf("the connection is open, or had another answer: %q, %v", got, err)
			}
		})
	}
}

// TestUnusedConnection verifies that a connection is not closed because it was opened long before its first request,
// and that the body of this request has its time from then on.
func TestUnusedConnection(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, Bounds{Unproved: 10, PerSource: 10, First: time.Minute},
		Timeouts{Header: time.Minute, Body: time.Second, Answer: time.Second, Idle: time.Minute})
	one := dial(t, address, "127.0.0.1")
	timer := time.NewTimer(1500 * time.Millisecond)
	defer timer.Stop()
	<-timer.C
	for range 2 {
		if status, err := one.ask(""); status != http.StatusOK || err != nil {
			t.Errorf("%d, %v", status, err)
		}
	}
}

// TestMadeUpTokens verifies that made-up tokens cause a bounded number of reviews, and that a source that sends them
// costs another source nothing, nor a token that was accepted before.
func TestMadeUpTokens(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Now())
	tokens, reviews := NewTokens(clock), 0
	good := map[string]bool{"Bearer good": true}
	handler, err := tokens.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), func(next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reviews++
			if !good[r.Header.Get("Authorization")] {
				http.Error(w, "Unauthorized", http.StatusUnauthorized)
				return
			}
			// As authenticators do.
			r.Header.Del("Authorization")
			next.ServeHTTP(w, r)
		}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(source, token string) int {
		r, w := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil), httptest.NewRecorder()
		r.RemoteAddr = source + ":1234"
		r.Header.Set("Authorization", token)
		handler.ServeHTTP(w, r)
		return w.Code
	}
	if code := ask("10.0.0.1", "Bearer good"); code != http.StatusOK {
		t.Fatal(code)
	}
	last := 0
	for i := range 600 {
		last = ask("10.0.0.1", fmt.Sprintf("Bearer made-up-%d", i))
	}
	if reviews > 2*attemptsAtOnce || last != http.StatusTooManyRequests {
		t.Errorf("600 tokens caused %d reviews, and the last answer is %d", reviews, last)
	}
	if known, other := ask("10.0.0.1", "Bearer good"), ask("10.0.0.2", "Bearer good"); known != http.StatusOK || other != http.StatusOK {
		t.Errorf("a good token is answered %d from the source of the others, and %d from another one", known, other)
	}
	// A token that is not accepted any more is one of the others.
	delete(good, "Bearer good")
	for range 10 {
		last = ask("10.0.0.1", "Bearer good")
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("a former token is answered %d", last)
	}
	clock.SetTime(clock.Now().Add(10 * time.Second))
	if code := ask("10.0.0.1", "Bearer other"); code != http.StatusUnauthorized {
		t.Errorf("later, an attempt is answered %d", code)
	}
	before := reviews
	for source := range 1000 {
		ask(fmt.Sprintf("10.1.%d.%d", source/250, source%250), "Bearer made-up")
	}
	if reviews-before > allAtOnce {
		t.Errorf("tokens of 1000 sources caused %d reviews", reviews-before)
	}
}

func TestSourceOf(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7/32", "[::ffff:192.0.2.7]:80": "192.0.2.7/32", "[2001:db8::1:2:3:4]:80": "2001:db8::/64",
		"[fe80::1%eth0]:80": "fe80::/64",
		"pipe":              "invalid Prefix",
	} {
		if got := sourceOf(address).String(); got != want {
			t.Errorf("%s is of %s, not %s", address, got, want)
		}
	}
}
