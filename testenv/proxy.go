// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/testenv/connections"
)

// Proxy is a proxy for an API server that a test can disconnect, for clients that use only the proxy. It forwards
// bytes, so that TLS ends at the server.
type Proxy struct {
	address, target string
	// cut disconnects the proxy, and running ends when it is disconnected.
	cut     context.CancelFunc
	running sync.WaitGroup
}

// NewProxy starts a proxy for the API server of a configuration. It ends with the test.
func NewProxy(t testing.TB, config *rest.Config) *Proxy {
	t.Helper()
	address, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	target := address.Host
	if target == "" {
		target = config.Host // without a scheme
	}
	p := &Proxy{target: target}
	p.address = p.listen(t, "127.0.0.1:0")
	t.Cleanup(p.Cut)
	return p
}

// Config returns a copy of the configuration that uses the proxy.
func (p *Proxy) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if address, err := url.Parse(config.Host); err == nil && address.Host != "" {
		address.Host = p.address
		config.Host = address.String()
	} else {
		config.Host = p.address
	}
	return config
}

// Cut ends every connection, and refuses new ones.
func (p *Proxy) Cut() {
	p.cut()
	p.running.Wait()
}

// Restore accepts connections again.
func (p *Proxy) Restore(t testing.TB) {
	t.Helper()
	p.listen(t, p.address)
}

func (p *Proxy) listen(t testing.TB, address string) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	p.cut = cancel
	p.running.Go(func() {
		_ = connections.Serve(ctx, listener, p.pass) // without a listener clients are refused, as after Cut
	})
	return listener.Addr().String()
}

// pass forwards bytes between a client and the server.
func (p *Proxy) pass(ctx context.Context, client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }() // it may be closed already
	connections.Join(ctx, client, server)
}
