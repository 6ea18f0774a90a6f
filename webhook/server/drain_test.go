// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// service gives new connections to its endpoints in turn, as a Service does.
type service struct {
	pki  *pki
	next atomic.Uint64

	mu        sync.Mutex
	endpoints []string
}

func (s *service) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	s.mu.Lock()
	endpoint := s.endpoints[s.next.Add(1)%uint64(len(s.endpoints))]
	s.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, endpoint)
}

// replica starts a replica and adds it to the endpoints once it is ready.
func (s *service) replica(t *testing.T) *running {
	t.Helper()
	r := start(t, func(server *Server) {
		server.Certificates, server.Options.ShutdownDelay = certificate{s.pki.issue(t, "server")}, time.Millisecond
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = append(s.endpoints, r.server.Options.address())
	return r
}

// remove stops a replica that is no endpoint anymore.
func (s *service) remove(t *testing.T, r *running) {
	t.Helper()
	s.mu.Lock()
	s.endpoints = slices.DeleteFunc(s.endpoints, func(address string) bool { return address == r.server.Options.address() })
	s.mu.Unlock()
	r.finish(t)
}

// apiServer returns a client as an API server uses it to call a webhook: with connections of its own, and with retries.
func (s *service) apiServer(t *testing.T) *rest.RESTClient {
	t.Helper()
	manager, err := webhookutil.NewClientManager([]schema.GroupVersion{admissionv1.SchemeGroupVersion}, admissionv1.AddToScheme)
	if err != nil {
		t.Fatal(err)
	}
	manager.SetServiceResolver(webhookutil.NewDefaultServiceResolver())
	manager.SetAuthenticationInfoResolver(&webhookutil.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(string) (*rest.Config, error) { return &rest.Config{Dial: s.dial}, nil },
	})
	client, err := manager.HookClient(webhookutil.ClientConfig{
		Name: "open", URL: "https://127.0.0.1:443/open/first-secret", CABundle: s.pki.pem,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Client.CloseIdleConnections)
	return client
}

// TestNoRequestIsLost: API servers keep connections that only some of their requests use, and the server cannot ask to
// close all of them during the delay. A request that uses such a connection just when its replica ends is not lost.
func TestNoRequestIsLost(t *testing.T) {
	s := &service{pki: newPKI(t)}
	s.replica(t) // which stays
	goes := s.replica(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var callers sync.WaitGroup
	var sent atomic.Int64
	post := func(client *rest.RESTClient) {
		sent.Add(1)
		answer, err := client.Post().Body([]byte("hello")).Do(context.WithoutCancel(ctx)).Raw()
		if err == nil && !bytes.Equal(answer, []byte("hello")) {
			err = fmt.Errorf("answer is %q", answer)
		}
		if err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		client := s.apiServer(t)
		callers.Go(func() {
			for ctx.Err() == nil {
				var burst sync.WaitGroup
				// Most need one connection, some need many.
				for range 1 + rand.IntN(8)/7*rand.IntN(20) {
					burst.Go(func() { post(client) })
				}
				burst.Wait()
			}
		})
	}
	for range 8 {
		before := sent.Load()
		goes.eventually(t, func() error {
			if sent.Load() < before+150 {
				return errors.New("too few requests")
			}
			return nil
		})
		next := s.replica(t)
		s.remove(t, goes)
		goes = next
	}
	cancel()
	callers.Wait()
}

// TestConnectionsThatWait: when the replica stops, a connection that was idle during the delay has an answer for a
// request that may be in flight, whether it was used before or not, and the replica does not wait for callers that keep
// it open.
func TestConnectionsThatWait(t *testing.T) {
	for name, used := range map[string]bool{"used": true, "new": false} {
		t.Run(name, func(t *testing.T) {
			held := heldClock{delay: make(chan time.Time)}
			r := start(t, func(s *Server) { s.Clock = held })
			dialer := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: r.pki.pool()}}
			conn, err := dialer.DialContext(t.Context(), "tcp", r.server.Options.address())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }() // the replica closes it
			answers := bufio.NewReader(conn)
			ask := func() (*http.Response, error) {
				if _, err := io.WriteString(conn, "POST /open/first-secret HTTP/1.1\r\nHost: webhook\r\nContent-Length: 0\r\n\r\n"); err != nil {
					return nil, err
				}
				return http.ReadResponse(answers, nil)
			}
			if used {
				if answer, err := ask(); err != nil || answer.StatusCode != http.StatusOK || answer.Close {
					t.Fatalf("answer is %v, %v", answer, err)
				}
			}
			r.stop()
			close(held.delay)
			// The answer arrives before any request.
			if _, err := answers.Peek(1); err != nil {
				t.Fatal(err)
			}
			answer, err := ask()
			if err != nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "0" || !answer.Close {
				t.Errorf("answer is %v, %v", answer, err)
			}
			r.finish(t)
		})
	}
}
