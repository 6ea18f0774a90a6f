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

// endpoint is where connections come from or go to.
type endpoint struct {
	network string // "tcp" or "unix"
	address string
}

func (e endpoint) String() string { return e.network + " " + e.address }

// listen accepts connections at the endpoint. A socket file that a killed
// process left is replaced.
func (e endpoint) listen(ctx context.Context) (net.Listener, error) {
	if e.network == "unix" {
		if err := os.Remove(e.address); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("an old socket is in the way: %w", err)
		}
	}
	return (&net.ListenConfig{}).Listen(ctx, e.network, e.address)
}

func (e endpoint) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, e.network, e.address)
}

// forward carries every connection made to one endpoint to another.
type forward struct{ from, to endpoint }

// startForwards listens for all of them before it returns, and carries in the
// group until ctx ends.
func startForwards(ctx context.Context, group *errgroup.Group, log *slog.Logger, forwards []forward) error {
	for _, f := range forwards {
		listener, err := f.from.listen(ctx)
		if err != nil {
			return fmt.Errorf("listening on %s: %w", f.from, err)
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
		log.Warn("nobody accepts a connection", "at", f.to.String(), "error", err)
		return
	}
	defer func() { _ = server.Close() }() // it may be closed already
	joinConnections(ctx, client, server)
}

// acceptAll has each connection handled in a goroutine of its own until ctx
// ends or accepting fails; then it waits for all of them. It closes the
// listener, and each connection after it was handled.
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

// joinConnections carries bytes both ways until both directions have ended or
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

// carry copies one direction and passes on its end. When the writing side is
// broken the reading side is ended too, so that its peer notices.
func carry(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite() // it may be closed already
		return
	}
	_ = from.Close()
	_ = to.Close()
}
