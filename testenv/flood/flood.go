// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flood holds many connections of callers without a credential open at a port of a test.
package flood

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Options configure a flood.
type Options struct {
	// Connections is how many connections it opens. 0: as many as most machines allow.
	Connections int
	// Source is the local address of the connections. Empty: 127.0.0.1.
	Source string
	// Secured: each connection does a handshake.
	Secured bool
	// Request is sent on each connection.
	Request string
}

// most leaves file descriptors to the rest of the test: 10,000 for the flood, and as many again if the port keeps them
// all.
const most = 9000

// Flood is a held flood.
type Flood struct {
	address string
	options Options

	mu   sync.Mutex
	held []*net.TCPConn
	// refused counts connections that were not opened.
	refused atomic.Int64
}

// Hold opens the connections, and holds them until the test ends.
func Hold(t *testing.T, address string, options Options) *Flood {
	t.Helper()
	if options.Connections == 0 {
		options.Connections = most
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		options.Connections = int(min(most, limit.Cur/2))
	}
	if options.Source == "" {
		options.Source = "127.0.0.1"
	}
	f := &Flood{address: address, options: options}
	t.Cleanup(f.close)
	var opening sync.WaitGroup
	todo := make(chan struct{}, options.Connections)
	for range options.Connections {
		todo <- struct{}{}
	}
	close(todo)
	for range 32 {
		opening.Go(func() {
			for range todo {
				f.open(t.Context())
			}
		})
	}
	opening.Wait()
	return f
}

func (f *Flood) open(ctx context.Context) {
	dialer := &net.Dialer{Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(f.options.Source)}}
	opened, err := dialer.DialContext(ctx, "tcp", f.address)
	connection, ok := opened.(*net.TCPConn)
	if err != nil || !ok {
		f.refused.Add(1)
		return
	}
	f.mu.Lock()
	f.held = append(f.held, connection)
	f.mu.Unlock()
	// The port may close the connection at any time.
	to := net.Conn(connection)
	if f.options.Secured {
		secured := tls.Client(connection, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // it trusts whoever answers
		_ = secured.SetDeadline(time.Now().Add(10 * time.Second))
		if secured.HandshakeContext(ctx) != nil {
			return
		}
		to = secured
	}
	if f.options.Request != "" {
		_, _ = to.Write([]byte(f.options.Request))
	}
}

// Held is the number of connections that were opened.
func (f *Flood) Held() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.held)
}

// Alive is the number of held connections that the port has not closed.
func (f *Flood) Alive() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	alive := 0
	for _, connection := range f.held {
		if isOpen(connection) {
			alive++
		}
	}
	return alive
}

// isOpen reads what has arrived without waiting.
func isOpen(connection *net.TCPConn) bool {
	raw, err := connection.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Read(func(fd uintptr) bool {
		buffer := make([]byte, 4096)
		for {
			n, _, err := syscall.Recvfrom(int(fd), buffer, syscall.MSG_DONTWAIT)
			if n > 0 && err == nil {
				continue
			}
			open = errors.Is(err, syscall.EAGAIN)
			return true
		}
	})
	return err == nil && open
}

// AwaitAlive waits until not more than a number of connections are open.
func (f *Flood) AwaitAlive(t *testing.T, most int, within time.Duration) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		alive := f.Alive()
		if alive <= most {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("after %s, %d of %d connections without a credential are open, more than %d", within, alive, f.Held(), most)
		}
	}
}

func (f *Flood) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, connection := range f.held {
		_ = connection.SetLinger(0) // ports of this machine are free at once
		_ = connection.Close()
	}
}

// Latency calls a healthy caller's request several times, and returns the median and the longest time.
func Latency(t *testing.T, times int, request func() error) (median, longest time.Duration) {
	t.Helper()
	var took []time.Duration
	for range times {
		began := time.Now()
		if err := request(); err != nil {
			t.Fatalf("a healthy caller: %v", err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)-1]
}
