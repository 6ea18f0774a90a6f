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

// Proxy is a way to an API server that a test can cut, for those who take it alone. It passes bytes on, so that TLS is the server's.
type Proxy struct {
	address, target string
	running         sync.WaitGroup

	mu sync.Mutex
	// listener is nil while the way is cut.
	listener net.Listener
	open     map[net.Conn]struct{}
}

// NewProxy makes a way to the API server of a configuration. It ends with the test.
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

// Config returns a copy of the configuration that takes this way.
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

// Cut ends every connection, and has new ones refused.
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

// Mend lets connections pass again.
func (p *Proxy) Mend(t testing.TB) {
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

// pass passes on what a client and the server say until one of them ends, or the way is cut.
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

// keep has Cut close a connection. It is false if the way is cut.
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
