// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// Proxy is a proxy for an API server that a test can disconnect, for clients that use only the proxy. It forwards bytes, so that
// TLS ends at the server.
type Proxy struct {
	address, target string
	running         sync.WaitGroup

	mu sync.Mutex
	// listener is nil while the proxy is disconnected.
	listener net.Listener
	open     map[net.Conn]struct{}
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
	p := &Proxy{target: target, open: map[net.Conn]struct{}{}}
	p.address = p.listen(t, "127.0.0.1:0")
	t.Cleanup(func() {
		p.Cut()
		p.running.Wait()
	})
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	for connection := range p.open {
		_ = connection.Close()
	}
	clear(p.open)
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = listener
	p.running.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.pass(connection) })
		}
	})
	return listener.Addr().String()
}

// pass forwards bytes between a client and the server until one of them ends, or the proxy is disconnected.
func (p *Proxy) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	if !p.keep(client) {
		return
	}
	defer p.drop(client)
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !p.keep(server) {
		return
	}
	defer p.drop(server)
	var both sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
		both.Go(func() {
			_, _ = io.Copy(to, from)
			_ = to.Close()
			_ = from.Close()
		})
	}
	both.Wait()
}

// keep registers a connection for Cut to close. It returns false if the proxy is disconnected.
func (p *Proxy) keep(connection net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.open[connection] = struct{}{}
	}
	return p.listener != nil
}

func (p *Proxy) drop(connection net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, connection)
}
