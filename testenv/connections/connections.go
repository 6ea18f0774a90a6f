// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package connections accepts and joins connections.
package connections

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// Serve handles each connection in its own goroutine until ctx ends or
// accepting fails, and then waits for all of them. It closes the listener, and
// each connection once it is handled.
func Serve(ctx context.Context, listener net.Listener, handle func(context.Context, net.Conn)) error {
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

// Join copies bytes both ways until both directions have ended or
// ctx ends.
func Join(ctx context.Context, client, server net.Conn) {
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
