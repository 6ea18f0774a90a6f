// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/karmada-compute/karmada-compute/testenv/connections"
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
			return connections.Serve(ctx, listener, func(ctx context.Context, client net.Conn) { f.carry(ctx, log, client) })
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
	connections.Join(ctx, client, server)
}
