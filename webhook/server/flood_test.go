// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/flood"
)

// slowest is how long a healthy request may take beside a flood, on a machine that is busy with other tests.
const slowest = 3 * time.Second

// TestFlood verifies at each port of a replica that callers without a credential hold no more than their share of
// connections, while an API server with the connections that it keeps, and one with new connections, are served.
func TestFlood(t *testing.T) {
	metrics := testenv.FreeAddress(t)
	r := start(t, func(s *Server) { s.Options.Metrics = metrics })
	caller := r.client(t, r.pki.issue(t, "apiserver", "callers"))
	r.eventually(t, func() error { _, err := get(caller, "https://"+metrics+"/metrics"); return err })
	webhooks := strings.TrimPrefix(r.url, "https://")
	admit := func() error {
		status, _, _, err := r.post(caller, "/open/first-secret", []byte("review"), nil)
		return succeeds(status, err)
	}
	scrape := func() error { return succeeds(get(caller, "https://"+metrics+"/metrics")) }
	probe := func() error { return succeeds(get(http.DefaultClient, r.health+"/readyz")) }
	before, _ := flood.Latency(t, 20, admit)
	for _, c := range []struct {
		port, address string
		most          int
		options       flood.Options
		request       func() error
	}{
		{"webhooks", webhooks, bounds.PerSource, flood.Options{}, admit},
		{"webhooks, after a handshake", webhooks, bounds.PerSource, flood.Options{Connections: 600, Secured: true}, admit},
		{"metrics", metrics, 32, flood.Options{Connections: 3000}, scrape},
		{
			"probes", strings.TrimPrefix(r.health, "http://"), 32,
			flood.Options{Connections: 3000, Request: "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"},
			probe,
		},
	} {
		t.Run(c.port, func(t *testing.T) {
			held := flood.Hold(t, c.address, c.options)
			held.AwaitAlive(t, c.most, 15*time.Second)
			kept, longest := flood.Latency(t, 20, c.request)
			fresh, longestFresh := flood.Latency(t, 20, func() error {
				caller.CloseIdleConnections()
				return c.request()
			})
			t.Logf("%d connections were opened, %d are open; a request takes %s (%s before), at most %s; with a connection of its "+
				"own %s, at most %s",
				held.Held(), held.Alive(), kept, before, longest, fresh, longestFresh)
			if longest > slowest || longestFresh > slowest {
				t.Errorf("a request takes up to %s, with a connection of its own %s", longest, longestFresh)
			}
		})
	}
}

// succeeds returns an error unless a request was answered with 200.
func succeeds(status int, err error) error {
	if err == nil && status != http.StatusOK {
		return fmt.Errorf("status %d", status)
	}
	return err
}

// TestMadeUpTokens verifies that made-up tokens do not cause a TokenReview each, and that a caller with a good token is
// served.
func TestMadeUpTokens(t *testing.T) {
	reviews := &atomic.Int64{}
	r := start(t, func(s *Server) {
		s.Options.Delegate.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, reviews} })
	})
	caller := r.client(t, nil)
	post := func(token string) int {
		status, _, _, err := r.post(caller, "/open", []byte("review"), http.Header{"Authorization": {"Bearer " + token}})
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	if status := post("good"); status != http.StatusOK {
		t.Fatalf("a good token is answered %d", status)
	}
	for i := range 300 {
		post(fmt.Sprintf("made-up-%d", i))
	}
	if n := reviews.Load(); n > 60 {
		t.Errorf("300 tokens caused %d TokenReviews", n)
	}
	if status := post("good"); status != http.StatusOK {
		t.Errorf("then the good token is answered %d", status)
	}
}

// counting counts TokenReviews.
type counting struct {
	next    http.RoundTripper
	reviews *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/tokenreviews") {
		c.reviews.Add(1)
	}
	return c.next.RoundTrip(r)
}
