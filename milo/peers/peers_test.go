// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/milo/shards"
)

// listen starts a process that answers pings.
func listen(t *testing.T, answer shards.Answer) (*Peers, chan shards.Ping) {
	t.Helper()
	p, err := Listen(t.Context(), Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	heard, ended := make(chan shards.Ping, 10), make(chan error, 1)
	go func() {
		ended <- p.Serve(ctx, func(ping shards.Ping) shards.Answer {
			heard <- ping
			return answer
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p, heard
}

// TestPing: a ping arrives, and each answer returns.
func TestPing(t *testing.T) {
	one, _ := listen(t, shards.Accepted)
	for _, c := range []struct {
		answer shards.Answer
		check  func(error) bool
	}{
		{shards.Accepted, func(err error) bool { return err == nil }},
		{shards.Asked, func(err error) bool { return errors.Is(err, shards.ErrAsked) }},
		{shards.Refused, func(err error) bool { return err != nil && !errors.Is(err, shards.ErrAsked) }},
	} {
		other, heard := listen(t, c.answer)
		sent := shards.Ping{From: "one", Process: "p", Endpoint: one.Endpoint(), To: "q", Lease: "uid", Round: 3}
		if err := one.Ping(t.Context(), other.Endpoint(), sent); !c.check(err) {
			t.Errorf("answer %d: %v", c.answer, err)
		}
		if got := <-heard; got != sent {
			t.Errorf("heard %+v, and not %+v", got, sent)
		}
	}
}

// TestIdentity: a process that has another key than the Lease names neither gets a ping nor sends one.
func TestIdentity(t *testing.T) {
	one, _ := listen(t, shards.Accepted)
	other, heard := listen(t, shards.Accepted)
	address, _, _ := strings.Cut(other.Endpoint(), "#")
	_, key, _ := strings.Cut(one.Endpoint(), "#")
	if err := one.Ping(t.Context(), address+"#"+key, shards.Ping{Endpoint: one.Endpoint()}); err == nil ||
		!strings.Contains(err.Error(), "another process") {
		t.Errorf("a process with another key is answered: %v", err)
	}
	if err := one.Ping(t.Context(), address, shards.Ping{Endpoint: one.Endpoint()}); err == nil {
		t.Error("an endpoint without a key is used")
	}
	if err := one.Ping(t.Context(), other.Endpoint(), shards.Ping{Endpoint: other.Endpoint()}); err == nil ||
		!strings.Contains(err.Error(), "403") {
		t.Errorf("a ping with the endpoint of another process is accepted: %v", err)
	}
	if len(heard) != 0 {
		t.Errorf("heard %+v", <-heard)
	}
}

// TestAddress: without a host, the endpoint has the address from which the hub is reached.
func TestAddress(t *testing.T) {
	p, err := Listen(t.Context(), Options{Address: ":0", Hub: "https://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.listener.Close() }()
	if !strings.HasPrefix(p.Endpoint(), "127.0.0.1:") {
		t.Errorf("endpoint %s", p.Endpoint())
	}
	if _, err := Listen(t.Context(), Options{Address: "9445"}); err == nil || !strings.Contains(err.Error(), "--peer-bind-address") {
		t.Errorf("a bad address: %v", err)
	}
}
