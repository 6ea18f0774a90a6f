// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
	"k8s.io/apimachinery/pkg/util/remotecommand"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// chatty is a cell whose container prints numbered lines as fast as they are taken.
type chatty struct {
	size    int64
	written atomic.Int64
	// sum is of all that was printed. Read it when the stream has ended.
	sum hash.Hash
}

// ServeHTTP answers logs and commands.
func (c *chatty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		c.print(w)
		return
	}
	connection := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{remotecommand.StreamProtocolV5Name: {
		Binary: true,
		Channels: []wsstream.ChannelType{
			wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.ReadChannel,
		},
	}})
	_, streams, err := connection.Open(w, r)
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	c.print(streams[1])
	_, _ = io.WriteString(streams[3], `{"status":"Success"}`)
}

func (c *chatty) print(to io.Writer) {
	var lines strings.Builder
	for n := 0; c.written.Load() < c.size; n++ {
		fmt.Fprintf(&lines, "line %d of a container that prints much\n", n)
		if lines.Len() < 32<<10 {
			continue
		}
		if _, err := io.WriteString(io.MultiWriter(to, c.sum), lines.String()); err != nil {
			return
		}
		c.written.Add(int64(lines.Len()))
		lines.Reset()
	}
}

// awaitStall waits until the cell has written nothing for a second.
func (c *chatty) awaitStall(t *testing.T) {
	t.Helper()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for last := int64(-1); last != c.written.Load() || last == 0; {
		last = c.written.Load()
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatal("the cell does not stop")
		}
	}
}

// gated is the output of a client that reads nothing until its gate opens.
type gated struct {
	gate <-chan struct{}
	sum  hash.Hash
	read int64
}

// Write waits for the gate.
func (g *gated) Write(p []byte) (int, error) {
	<-g.gate
	g.read += int64(len(p))
	return g.sum.Write(p)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestSlowReader verifies that a client that does not read stops the container, instead of filling the memory of the
// replica, and that the client gets every line later.
func TestSlowReader(t *testing.T) {
	// The buffers of the kernel hold some of it.
	const size, most = 256 << 20, 16 << 20
	for name, change := range map[string]func(*v1alpha.InstanceSessionSpec){"a log": followed, "a command": exec} {
		t.Run(name, func(t *testing.T) {
			cell := &chatty{size: size, sum: sha256.New()}
			f := newFixture(t, cell)
			key := newKey(t)
			_, grant := f.create(t, key, change)
			before := heap()
			gate := make(chan struct{})
			out, ended := &gated{gate: gate, sum: sha256.New()}, make(chan error, 1)
			go func() { ended <- f.copyOutput(t, grant, key, out) }()
			cell.awaitStall(t)
			if written := cell.written.Load(); written >= size {
				t.Errorf("without a reader, the container has written all %d bytes", written)
			}
			if grown := int64(heap()) - int64(before); grown > most {
				t.Errorf("the heap has grown by %d bytes", grown)
			}
			close(gate)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if written := cell.written.Load(); out.read != written || string(out.sum.Sum(nil)) != string(cell.sum.Sum(nil)) {
				t.Errorf("the client got %d of %d bytes, or others", out.read, written)
			}
		})
	}
}
