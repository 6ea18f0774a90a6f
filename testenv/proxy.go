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
	listener net.Listener
	target   string

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]struct{}
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
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, target: target, open: map[net.Conn]struct{}{}}
	var accepting sync.WaitGroup
	accepting.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		accepting.Wait()
	})
	return p
}

// Config returns a copy of the configuration that takes this way.
func (p *Proxy) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if address, err := url.Parse(config.Host); err == nil && address.Host != "" {
		address.Host = p.listener.Addr().String()
		config.Host = address.String()
	} else {
		config.Host = p.listener.Addr().String()
	}
	return config
}

// Cut ends every connection, and any new one.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = true
	for connection := range p.open {
		_ = connection.Close()
	}
	clear(p.open)
}

// Mend lets connections pass again.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = false
}

func (p *Proxy) accept() {
	var passing sync.WaitGroup
	defer passing.Wait()
	for {
		connection, err := p.listener.Accept()
		if err != nil {
			return
		}
		passing.Go(func() { p.pass(connection) })
	}
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
	if !p.isCut {
		p.open[connection] = struct{}{}
	}
	return !p.isCut
}

func (p *Proxy) drop(connection net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, connection)
}
