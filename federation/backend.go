// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// healthInterval is the interval between two health checks of a backend.
	healthInterval = 100 * time.Millisecond
	healthTimeout  = 2 * time.Second
)

// Backend is one server behind a Balancer.
type Backend struct {
	// Address takes the connections.
	Address string
	// Health is a URL that answers 200 while the backend is ready for connections. Empty: the backend is always ready.
	Health string

	unready atomic.Bool
}

// watch polls the health of a backend until ctx ends.
func (b *Backend) watch(ctx context.Context, log *slog.Logger) {
	client := &http.Client{Timeout: healthTimeout}
	ticker := time.NewTicker(healthInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		err := httpReady(client, b.Health)(ctx)
		if b.unready.Swap(err != nil) != (err != nil) && ctx.Err() == nil {
			log.Info("readiness of a backend changed", "backend", b.Address, "ready", err == nil, "reason", err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
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
	var addresses []string
	for _, backend := range b.Backends {
		if !backend.unready.Load() {
			addresses = append(addresses, backend.Address)
		}
	}
	return addresses
}

// watchAll polls the health of every backend that has a health URL.
func (b *Balancer) watchAll(ctx context.Context, running *sync.WaitGroup) {
	for _, backend := range b.Backends {
		if backend.Health != "" {
			running.Go(func() { backend.watch(ctx, b.Log) })
		}
	}
}
