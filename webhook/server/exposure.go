// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// handshakes finds handshakes that fail after the caller's first message, which no health check of a load balancer
// sends. It is safe for concurrent use.
type handshakes struct {
	// failed is called for each. Nil: no path is secret.
	failed func()

	mu    sync.Mutex
	begun map[net.Conn]bool
}

// begin notes the first message of a caller.
func (h *handshakes) begin(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begun == nil {
		h.begun = map[net.Conn]bool{}
	}
	h.begun[conn] = true
}

// follow is the http.Server's ConnState.
func (h *handshakes) follow(conn net.Conn, state http.ConnState) {
	secured, ok := conn.(*tls.Conn)
	if !ok || state != http.StateClosed && state != http.StateHijacked {
		return
	}
	h.mu.Lock()
	begun := h.begun[secured.NetConn()]
	delete(h.begun, secured.NetConn())
	h.mu.Unlock()
	if begun && h.failed != nil && !secured.ConnectionState().HandshakeComplete {
		h.failed()
	}
}

const (
	// handshakeTimeout bounds how long a caller waits for a replica that starts. It is shorter than the 5 s that an
	// API server gives a webhook, so that there is time left for the answer.
	handshakeTimeout = 4 * time.Second
	// handshakeInterval is the time between two checks whether callers can be served.
	handshakeInterval = 20 * time.Millisecond
)

// certificate returns the certificate for a handshake, and waits until callers can be served. A container that is
// killed and starts again keeps its place in the Service until the kubelet has noticed, so callers reach it before it
// has its certificate and the paths. An API server does not repeat a request whose handshake has failed.
func (s *Server) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.handshakes.begin(hello.Conn)
	timeout := s.Clock.After(handshakeTimeout)
	for {
		err := s.certified()
		if err == nil {
			return s.Certificates.GetCertificate(hello)
		}
		select {
		case <-s.Clock.After(handshakeInterval):
		case <-timeout:
			return nil, err
		case <-hello.Context().Done():
			return nil, err
		}
	}
}
