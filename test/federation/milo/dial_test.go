// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// closedAddress returns an address without a listener.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

func TestWatchingWaitsForTheServer(t *testing.T) {
	address := closedAddress(t)
	httpClient, err := rest.HTTPClientFor(watching(&rest.Config{Host: "http://" + address}))
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address, http.NoBody)
		if err == nil {
			var response *http.Response
			if response, err = httpClient.Do(request); err == nil {
				err = response.Body.Close()
			}
		}
		answer <- err
	}()
	// The connection is refused a few times at first.
	select {
	case err := <-answer:
		t.Fatalf("a server that is not there answered, or was given up: %v", err)
	case <-time.After(3 * redialInterval):
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	if server.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", address); err != nil {
		t.Fatal(err)
	}
	server.Start()
	defer server.Close()
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*redialInterval)
	defer cancel()
	if _, err := dialUntilAccepted(ctx, "tcp", closedAddress(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
}
