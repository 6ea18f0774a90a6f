// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"
)

// endpoint is an address that accepts connections.
type endpoint struct {
	network string // "tcp" or "unix"
	address string
}

func (e endpoint) String() string { return e.network + " " + e.address }

// listen listens at the endpoint. It replaces a socket file that a killed
// process left.
func (e endpoint) listen(ctx context.Context) (net.Listener, error) {
	if e.network == "unix" {
		if err := os.Remove(e.address); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("remove an old socket: %w", err)
		}
	}
	return (&net.ListenConfig{}).Listen(ctx, e.network, e.address)
}

func (e endpoint) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, e.network, e.address)
}

// forward forwards connections from one endpoint to another.
type forward struct{ from, to endpoint }

// startForwards listens at all endpoints before it returns, and forwards
// connections in the group until ctx ends.
func startForwards(ctx context.Context, group *errgroup.Group, log *slog.Logger, forwards []forward) error {
	for _, f := range forwards {
		listener, err := f.from.listen(ctx)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", f.from, err)
		}
		group.Go(func() error {
			return acceptAll(ctx, listener, func(ctx context.Context, client net.Conn) { f.carry(ctx, log, client) })
		})
	}
	return nil
}

func (f forward) carry(ctx context.Context, log *slog.Logger, client net.Conn) {
	server, err := f.to.dial(ctx)
	if err != nil {
		log.Warn("connection not forwarded", "to", f.to.String(), "error", err)
		return
	}
	defer func() { _ = server.Close() }() // it may be closed already
	joinConnections(ctx, client, server)
}

// acceptAll handles each connection in its own goroutine until ctx ends or
// accepting fails, and then waits for all of them. It closes the listener, and
// each connection once it is handled.
func acceptAll(ctx context.Context, listener net.Listener, handle func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(ctx)
	var connections sync.WaitGroup
	defer func() {
		cancel()
		connections.Wait()
	}()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() }) // Accept reports it
	defer stop()
	for {
		connection, err := listener.Accept()
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		connections.Go(func() {
			defer func() { _ = connection.Close() }() // it may be closed already
			handle(ctx, connection)
		})
	}
}

// joinConnections copies bytes both ways until both directions have ended or
// ctx ends.
func joinConnections(ctx context.Context, client, server net.Conn) {
	stop := context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})
	defer stop()
	var both sync.WaitGroup
	both.Go(func() { carry(server, client) })
	both.Go(func() { carry(client, server) })
	both.Wait()
}

// carry copies one direction and passes on its end. If writing fails it closes
// both connections, so that the peer of the other one notices.
func carry(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite() // it may be closed already
		return
	}
	_ = from.Close()
	_ = to.Close()
}
