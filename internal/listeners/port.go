// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package listeners

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Timeouts bound the steps of a request.
type Timeouts struct {
	// Header is the maximum time for the headers of a request, of the first one from the handshake on.
	Header time.Duration
	// Body is the maximum time for the body of a request after its headers. 0: requests have no body, and no deadline.
	Body time.Duration
	// Answer is the maximum time for an answer, after the headers of the request. 0: answers are streams.
	Answer time.Duration
	// Idle is the maximum time between two requests. 0: a connection is closed after its first request.
	Idle time.Duration
}

// maxHeaderBytes bounds the headers of a request.
const maxHeaderBytes = 16 << 10

// Probes are the bounds of a port for probes, without TLS. Kubelets open a connection for each probe.
var Probes = Bounds{Unproved: 128, PerSource: 32, First: 5 * time.Second}

// ProbeTimeouts are the timeouts of such a port.
var ProbeTimeouts = Timeouts{Header: 5 * time.Second, Body: 5 * time.Second, Answer: 10 * time.Second}

// NewServer returns a server with timeouts.
func NewServer(handler http.Handler, timeouts Timeouts) *http.Server {
	server := &http.Server{
		Handler: inTime(handler, timeouts.Body), ReadHeaderTimeout: timeouts.Header, WriteTimeout: timeouts.Answer, IdleTimeout: timeouts.Idle,
		MaxHeaderBytes: maxHeaderBytes, ConnContext: remember,
		// The lines of net/http are about whoever reaches the port.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	server.SetKeepAlivesEnabled(timeouts.Idle > 0)
	return server
}

// inTime bounds how long the body of each request may take. ReadTimeout would count from the handshake on.
func inTime(next http.Handler, limit time.Duration) http.Handler {
	if limit <= 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A connection of any kind has deadlines. The server sets them again for the next request.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit))
		next.ServeHTTP(w, r)
	})
}

// Listen listens at an address, with bounds.
func Listen(ctx context.Context, address string, bounds Bounds) (*Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return Bound(listener, bounds), nil
}

// Serve serves until ctx ends, with TLS if the server has a configuration for it. Then it gives requests in flight the
// time until finish.
func Serve(ctx context.Context, server *http.Server, listener net.Listener, finish time.Duration) error {
	failed := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			failed <- server.ServeTLS(listener, "", "")
			return
		}
		failed <- server.Serve(listener)
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	finishing, cancel := context.WithTimeout(context.WithoutCancel(ctx), finish)
	defer cancel()
	_ = server.Shutdown(finishing)
	_ = server.Close() // Serve reports it
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
