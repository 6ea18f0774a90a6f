// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// sendElsewhere answers a request that the server has not read. client-go, with which API servers and Karmada call
	// webhooks, repeats a request after a server error with a Retry-After header: at once.
	sendElsewhere = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	// leaveTimeout is how long callers may take to close connections that were answered so, a handshake included.
	leaveTimeout = 5 * time.Second
)

// waiting tracks the open connections, and on which of them the server waits for a request. Callers keep some
// connections that few of their requests use; the server cannot ask to close these within the shutdown delay. If the
// server closes a connection, it loses a request in flight: HTTP/1.1 has no message for "no more requests", and
// client-go does not repeat a POST that got no answer. So the server answers in advance: a caller that has sent a
// request takes that for its answer, and any other caller closes the connection when it receives data that it did not
// request. It is safe for concurrent use.
type waiting struct {
	mu          sync.Mutex
	connections map[net.Conn]*connection
	// over reports that the server waits for no more requests.
	over bool
}

// connection is an open connection.
type connection struct {
	net.Conn
	closed chan struct{}

	mu sync.Mutex // held while it is answered ahead
	// active while a request is answered.
	active, answered bool
}

// follow is the http.Server's ConnState.
func (w *waiting) follow(conn net.Conn, state http.ConnState) {
	c, over := w.find(conn, state)
	c.setActive(state == http.StateActive)
	switch {
	case state == http.StateClosed || state == http.StateHijacked:
		close(c.closed)
	case over:
		// In a goroutine: the next accepted connection must not wait for the handshake.
		go c.answerAhead()
	}
}

func (w *waiting) find(conn net.Conn, state http.ConnState) (found *connection, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch state {
	case http.StateNew:
		w.connections[conn] = &connection{Conn: conn, closed: make(chan struct{})}
	case http.StateActive, http.StateIdle:
	case http.StateClosed, http.StateHijacked:
		defer delete(w.connections, conn)
	}
	return w.connections[conn], w.over
}

// end lets the callers close all connections: idle connections are answered in advance, the others by their answers. It
// waits until all are closed or ctx ends.
func (w *waiting) end(ctx context.Context) {
	w.mu.Lock()
	w.over = true
	open := slices.Collect(maps.Values(w.connections))
	w.mu.Unlock()
	for _, c := range open {
		go c.answerAhead()
	}
	for _, c := range open {
		select {
		case <-c.closed:
		case <-ctx.Done():
		}
	}
}

func (c *connection) setActive(active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = active
}

// answerAhead answers the request that is waited for, if one is. Afterwards the connection lasts for leaveTimeout at
// most.
func (c *connection) answerAhead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active || c.answered {
		return
	}
	c.answered = true
	time.AfterFunc(leaveTimeout, func() { _ = c.Close() }) // it may be closed already
	// Of the last request it has a deadline that may be over.
	_ = c.SetWriteDeadline(time.Now().Add(leaveTimeout))
	_, _ = c.Write([]byte(sendElsewhere)) // an error means that it is closed
}
