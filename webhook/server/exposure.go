// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// handshakes finds handshakes that fail after the caller's first message, which no health check of a load balancer sends. It is safe for
// concurrent use.
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
