// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// relay forwards connections to the kube-apiserver of the tests, except during an outage.
type relay struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	away  bool
	conns []net.Conn
}

func startRelay(t *testing.T, config *rest.Config) *relay {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	r := &relay{listener: listener, to: strings.Trim(strings.TrimPrefix(config.Host, "https:"), "/")}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go r.forward(client)
		}
	}()
	return r
}

func (r *relay) forward(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", r.to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	r.mu.Lock()
	if r.away {
		r.mu.Unlock()
		return
	}
	r.conns = append(r.conns, client, server)
	r.mu.Unlock()
	go func() { _, _ = io.Copy(server, client) }()
	_, _ = io.Copy(client, server)
}

func (r *relay) setAway(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
	if away {
		for _, one := range r.conns {
			_ = one.Close()
		}
		r.conns = nil
	}
}

// Processes keep running while the API server is down. Their changes are reported when it is available again.
func TestOutage(t *testing.T) {
	var r *relay
	f := startNode(t, func(o *Options) {
		r = startRelay(t, o.Config)
		o.Config = rest.CopyConfig(o.Config)
		o.Config.Host = "https://" + r.listener.Addr().String()
	})
	f.create(f.pod("stays"))
	f.create(f.pod("goes"))
	stays, goes := f.awaitReady("stays"), f.awaitReady("goes")
	r.setAway(true)
	if err := syscall.Kill(pid(stays), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.delete("goes")
	f.eventually("serving again", func(context.Context) (bool, error) {
		_, err := f.tryAsk(stays, "/readyz")
		return err == nil && !runs(pid(stays)), nil
	})
	if !runs(pid(goes)) {
		t.Error("a process ended without a word of the API server")
	}
	r.setAway(false)
	f.await("stays", "Ready again", func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
	f.awaitGone("goes")
	if runs(pid(goes)) {
		t.Error("the process outlives its Pod")
	}
}
