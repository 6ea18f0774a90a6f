// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/karmada-compute/karmada-compute/testenv/connections"
)

// dialTimeout is how long a backend may take to accept a connection: on one
// machine it accepts at once or not at all.
const dialTimeout = 2 * time.Second

// Balancer distributes TCP connections over backends in turn, as a Kubernetes
// Service would. It skips a backend that does not accept the connection.
type Balancer struct {
	// Listen is the address to accept connections on, and Also are further ones.
	Listen string
	Also   []string
	// Backends are the addresses that receive the connections.
	Backends []string
	// Service provides the backends in the place of Backends: its ready endpoints.
	Service *Service
	Log     *slog.Logger

	next atomic.Uint64
}

// Serve accepts connections until ctx ends, then closes open connections and returns nil. It may be called once.
func (b *Balancer) Serve(ctx context.Context) error {
	if (len(b.Backends) == 0) == (b.Service == nil) {
		return errors.New("a balancer needs either backends or a Service")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if b.Service != nil {
		if err := b.Service.watch(ctx); err != nil {
			return fmt.Errorf("balancer: %w", err)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, at := range append([]string{b.Listen}, b.Also...) {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
		if err != nil {
			cancel()
			return errors.Join(fmt.Errorf("balancer: %w", err), group.Wait())
		}
		group.Go(func() error {
			if err := connections.Serve(ctx, listener, b.serve); err != nil {
				return fmt.Errorf("balancer on %s: %w", at, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// serve forwards one connection until either side ends it.
func (b *Balancer) serve(ctx context.Context, client net.Conn) {
	backend, err := b.dial(ctx)
	if err != nil {
		b.Log.Warn("no backend accepts a connection", "error", err)
		return
	}
	defer func() { _ = backend.Close() }() // it may be closed already
	connections.Join(ctx, client, backend)
}

// dial connects to the next backend that is ready and accepts the connection.
func (b *Balancer) dial(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	first := b.next.Add(1) - 1
	ready := b.ready()
	count := uint64(len(ready))
	errs := []error{errors.New("no backend is ready")}
	for i := range count {
		connection, err := dialer.DialContext(ctx, "tcp", ready[(first+i)%count])
		if err == nil {
			return connection, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// ready returns the addresses of all backends that are ready.
func (b *Balancer) ready() []string {
	if b.Service != nil {
		return b.Service.addresses()
	}
	return b.Backends
}
