// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// TestRedirects: a session has one address, and no answer leads to another one.
func TestRedirects(t *testing.T) {
	var followed atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	s := &Session{config: &rest.Config{Host: server.URL}}
	if err := s.Logs(t.Context(), io.Discard); err == nil {
		t.Error("a redirect is a log")
	}
	if connection, err := s.dial(t.Context(), 80); err == nil {
		t.Errorf("a redirect is a connection: %v", connection.Close())
	}
	if n := followed.Load(); n > 0 {
		t.Errorf("%d redirects are followed", n)
	}
}
