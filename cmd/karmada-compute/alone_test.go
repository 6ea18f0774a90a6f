// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAlone: a replica that starts finds out whether another one answers, as callers do.
func TestAlone(t *testing.T) {
	other := httptest.NewUnstartedServer(http.NotFoundHandler())
	other.Config.ErrorLog = log.New(io.Discard, "", 0)
	other.StartTLS()
	t.Cleanup(other.Close)
	// A load balancer without a replica behind it.
	balancer, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := balancer.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = balancer.Close() })
	a := newApp()
	for _, test := range []struct {
		url  string
		want bool
	}{{other.URL, false}, {"https://" + balancer.Addr().String(), true}} {
		a.options.webhook.url = test.url
		if got := a.alone(t.Context()); got != test.want {
			t.Errorf("%s: alone is %t", test.url, got)
		}
	}
	other.Close()
	a.options.webhook.url = other.URL
	if !a.alone(t.Context()) {
		t.Error("not alone, although nothing listens")
	}
}

// TestCalledAt is where callers reach the webhooks.
func TestCalledAt(t *testing.T) {
	a := newApp()
	a.options.hub.namespace = "karmada-system"
	for url, want := range map[string]string{
		"": "karmada-compute-webhook.karmada-system.svc:443", "https://webhooks.example.com": "webhooks.example.com:443",
		"https://[::1]:9443/base": "[::1]:9443",
	} {
		a.options.webhook.url = url
		if got := a.calledAt(); got != want {
			t.Errorf("%q: %s", url, got)
		}
	}
}
