// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// given are the ports that FreePort has returned.
var given sync.Map

// FreePort returns a port of 127.0.0.1 that is free and that no other call in this process gets. The port is below the
// kernel's range for outgoing connections, so that no such connection takes it before the test listens, and outside of
// the range of the federations.
func FreePort(t *testing.T) int {
	t.Helper()
	const lowest, count = 8000, 4000
	for range 1000 {
		port := lowest + rand.IntN(count) //nolint:gosec // a port is no secret
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("no port of 127.0.0.1 is free")
	return 0
}

// FreeAddress returns the address of a FreePort.
func FreeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(FreePort(t)))
}
