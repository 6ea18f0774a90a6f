// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
)

// TestSecretsStaySecret: neither the log nor a metric names the secret after a path, and the answer to a wrong secret
// equals the answer of a path that does not exist.
func TestSecretsStaySecret(t *testing.T) {
	var log syncBuffer
	r := start(t, func(s *Server) {
		s.Log = funcr.New(func(prefix, args string) { log.write(prefix + args) }, funcr.Options{Verbosity: 10})
	})
	client := r.client(t, nil)
	answers := map[string]string{}
	for _, path := range []string{"/open/first-secret", "/open/wrong-secret", "/other"} {
		_, answer, _, err := r.post(client, path, []byte("hello"), nil)
		if err != nil {
			t.Fatal(err)
		}
		answers[path] = answer
	}
	if answers["/open/wrong-secret"] != answers["/other"] {
		t.Errorf("a wrong secret is answered with %q, another path with %q", answers["/open/wrong-secret"], answers["/other"])
	}
	said := log.String()
	if !strings.Contains(said, "Caller refused") {
		t.Error("it is not logged that a caller was refused")
	}
	families, err := r.server.Registerer.(*prometheus.Registry).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		said += family.String()
	}
	if strings.Contains(said, "-secret") {
		t.Error("a secret is in the log or in a metric")
	}
}

// TestReadyWithPaths: a replica is not ready before it knows the secret paths of callers without credentials.
func TestReadyWithPaths(t *testing.T) {
	known := &lateSecrets{secrets: secrets{"/open": "first-secret"}}
	s := &Server{Webhooks: []Webhook{{Name: "open", Path: "/open"}}, Paths: known, Certificates: certificate{newPKI(t).issue(t, "server")}}
	if s.certified() == nil {
		t.Error("ready without paths")
	}
	known.read = true
	if err := s.certified(); err != nil {
		t.Error(err)
	}
}

// lateSecrets are known once they were read.
type lateSecrets struct {
	secrets
	read bool
}

func (s *lateSecrets) Ready() error {
	if !s.read {
		return errors.New("not read")
	}
	return nil
}

// syncBuffer is text that goroutines write.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) write(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.WriteString(text)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// FuzzPath: a caller without credentials reaches a handler by the two known paths only.
func FuzzPath(f *testing.F) {
	reached := ""
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached = r.URL.Path })
	g := &guard{log: logr.Discard(), refused: func(string) {}}
	known := secrets{"/open": "first-secret", "/closed": "second-secret"}
	mux := http.NewServeMux()
	for _, path := range []string{"/open", "/closed"} {
		mux.Handle("POST "+path+"/{"+secretSegment+"}", g.wrapSecret(Webhook{Name: path, Path: path}, known, handler))
	}
	for _, seed := range []string{
		"/open/first-secret", "/open/second-secret", "/closed//second-secret", "/open/%66irst-secret",
		"/open/../closed/second-secret", "/open/", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		called, err := url.Parse(path)
		if err != nil {
			return
		}
		reached = ""
		mux.ServeHTTP(httptest.NewRecorder(), &http.Request{Method: http.MethodPost, URL: called, Host: "webhooks", Header: http.Header{}})
		if reached != "" && reached != "/open/first-secret" && reached != "/closed/second-secret" {
			t.Errorf("%q reaches a handler", path)
		}
	})
}
