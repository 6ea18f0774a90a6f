// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
	"github.com/karmada-compute/karmada-compute/webhook/rotation/paths"
)

// exposures implements Paths, and records the reported causes.
type exposures struct {
	secrets

	mu     sync.Mutex
	causes []string
}

func (e *exposures) Expose(cause string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.causes = append(e.causes, cause)
}

func (e *exposures) are(causes ...string) func() error {
	return func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !slices.Equal(e.causes, causes) {
			return errors.New("the exposures are " + strings.Join(e.causes, ", ") + ", not " + strings.Join(causes, ", "))
		}
		return nil
	}
}

// startExposed starts a server whose webhook /open hangs until its caller disconnects, and whose webhook /closed panics
// on request.
func startExposed(t *testing.T) (*running, *exposures) {
	t.Helper()
	known := &exposures{secrets: secrets{"/open": "first-secret", "/closed": "second-secret"}}
	r := start(t, func(s *Server) {
		s.Paths = known
		s.Webhooks[0].Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		s.Webhooks[1].Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("panic") != "" {
				panic("a fault")
			}
		})
	})
	return r, known
}

// leave calls a path and leaves before the answer.
func (r *running) leave(t *testing.T, client *http.Client, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := client.Do(request); err == nil {
		_ = response.Body.Close()
		t.Fatal("there is an answer")
	}
}

// TestCallerLeaves before its answer: an API server shows the path then. The plain path is no secret.
func TestCallerLeaves(t *testing.T) {
	r, known := startExposed(t)
	authenticated := r.client(t, r.pki.issue(t, "api-server", "callers"))
	r.leave(t, authenticated, "/open")
	r.leave(t, r.client(t, nil), "/open/first-secret")
	r.eventually(t, known.are("left"))
}

// TestAnswers: with an answer, also of status 500, the path is not shown.
func TestAnswers(t *testing.T) {
	r, known := startExposed(t)
	client := r.client(t, nil)
	for _, call := range []struct {
		path string
		want int
	}{{"/closed/second-secret", 200}, {"/closed/wrong", 404}, {"/closed", 401}, {"/closed/second-secret?panic=x", 500}} {
		if status, _, _, err := r.post(client, call.path, nil, nil); err != nil || status != call.want {
			t.Fatalf("%s: %d, %v", call.path, status, err)
		}
	}
	r.leave(t, client, "/open/first-secret") // the answers before it have been noted
	r.eventually(t, known.are("left"))
}

// TestFailedHandshake: a caller that does not trust the certificate shows the path. A connection without a word of TLS
// is a health check.
func TestFailedHandshake(t *testing.T) {
	r, known := startExposed(t)
	address := strings.TrimPrefix(r.url, "https://")
	plain, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	trusting := &tls.Dialer{Config: &tls.Config{RootCAs: r.pki.pool(), MinVersion: tls.VersionTLS13}}
	conn, err := trusting.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	stranger := &tls.Dialer{Config: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}}
	if conn, err := stranger.DialContext(t.Context(), "tcp", address); err == nil {
		_ = conn.Close()
		t.Fatal("the certificate is trusted")
	}
	r.eventually(t, known.are("handshake"))
}

// TestShownPathIsReplaced: a caller leaves, and the next key is in the Secret at once.
func TestShownPathIsReplaced(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(time.Now())
	name := types.NamespacedName{Namespace: "system", Name: "paths"}
	keeper, err := paths.New(paths.Options{
		Store: rotation.Store{Client: hub, Secret: name, Clock: clock}, Plain: []string{"/open", "/closed"},
		Carried: func(context.Context, func(string) string) (bool, error) { return true, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, func(s *Server) {
		s.Paths = keeper
		s.Webhooks[0].Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	})
	clock.Step(paths.DefaultSpacing + time.Second) // the Secret has whole seconds
	r.leave(t, r.client(t, nil), keeper.Path("/open"))
	r.eventually(t, func() error {
		secret := &corev1.Secret{}
		if err := hub.Get(t.Context(), name, secret); err != nil {
			return err
		}
		if secret.Data["next"] == nil {
			return errors.New("no rotation has begun")
		}
		return nil
	})
}
