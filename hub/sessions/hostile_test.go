// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// drip answers with a header that never ends, one byte after the other.
func drip(w http.ResponseWriter, r *http.Request) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	fmt.Fprint(connection, "HTTP/1.1 200 OK\r\nX-Slow: ")
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for range ticker.C {
		if _, err := fmt.Fprint(connection, "a"); err != nil || r.Context().Err() != nil {
			return
		}
	}
}

// stuck is a Dialer whose connections take forever.
type stuck struct{ released chan struct{} }

// Dial waits until the test ends.
func (s stuck) Dial(...string) (httpstream.Connection, string, error) {
	<-s.released
	return nil, "", io.ErrUnexpectedEOF
}

// silent answers nothing.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// TestLostCell verifies that a client gets an error that names the cell, 12 s later at the most and more on a busy machine, if the
// cell breaks off, does not answer, or sends headers that do not end, and that the session shows it.
func TestLostCell(t *testing.T) {
	t.Parallel()
	// The container says which of them answers.
	cells := map[string]http.HandlerFunc{
		"breaks-off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"endless-headers": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 10000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("a", 1000))
			}
		},
		"silent": silent, "slow": drip,
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
	}
	released := make(chan struct{})
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request,
	) {
		cells[r.URL.Query().Get("container")](w, r)
	}), func(o *Options) {
		o.Ports = func(*url.URL) (httpstream.Dialer, error) { return stuck{released}, nil }
	})
	defer close(released)
	f.declarePorts(t, 80)
	f.declare(t, func(sandbox *v1alpha.SandboxRuntime) {
		for name := range cells {
			sandbox.Containers = append(sandbox.Containers, v1alpha.SandboxContainer{Name: name, Image: "app:1"})
		}
	})
	key := newKey(t)
	var all sync.WaitGroup
	for name, c := range map[string]struct {
		kind              v1alpha.InstanceSessionType
		container, reason string
	}{
		"a cell that breaks off":   {v1alpha.SessionLogs, "breaks-off", v1alpha.ReasonSessionFailed},
		"a redirect":               {v1alpha.SessionLogs, "redirects", v1alpha.ReasonSessionFailed},
		"endless headers":          {v1alpha.SessionLogs, "endless-headers", v1alpha.ReasonSessionFailed},
		"no answer":                {v1alpha.SessionLogs, "silent", v1alpha.ReasonSessionUnreachable},
		"no answer for a command":  {v1alpha.SessionExec, "silent", v1alpha.ReasonSessionUnreachable},
		"slow bytes":               {v1alpha.SessionLogs, "slow", v1alpha.ReasonSessionUnreachable},
		"no connection for a port": {v1alpha.SessionPortForward, "", v1alpha.ReasonSessionUnreachable},
	} {
		session, grant := f.create(t, key, func(s *v1alpha.InstanceSessionSpec) {
			s.Type, s.ContainerName = c.kind, c.container
			if c.kind == v1alpha.SessionExec {
				s.Command = []string{"sh"}
			}
			if c.kind == v1alpha.SessionPortForward {
				s.Ports = []int32{80}
			}
		})
		all.Go(func() {
			began := time.Now()
			response, _ := f.dialWith(t, f.addressOf(grant)+"?port=80", key, upgradeOf(grant))
			body := readAll(t, response)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("%s: the answer took %s", name, took)
			}
			if response.StatusCode != http.StatusBadGateway || !strings.Contains(body, f.cell.Name) {
				t.Errorf("%s: %d, %q", name, response.StatusCode, body)
			}
			f.await(t, session, c.reason)
		})
	}
	all.Wait()
}

// upgradeOf are the headers with which a client connects to a session.
func upgradeOf(grant *Grant) http.Header {
	switch grant.Spec.Type {
	case v1alpha.SessionPortForward:
		return http.Header{"Upgrade": {TunnelProtocol}}
	case v1alpha.SessionExec, v1alpha.SessionAttach:
		return http.Header{"Upgrade": {"websocket"}}
	case v1alpha.SessionLogs:
	}
	return http.Header{}
}

// TestLostOnTheWay verifies that a stream that is cut off between the replica and the cell, as when the hub is
// restarted, ends at once with a reason that names the cell.
func TestLostOnTheWay(t *testing.T) {
	for name, change := range map[string]func(*v1alpha.InstanceSessionSpec){"a log": followed, "a command": exec} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cut := make(chan struct{})
			f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Upgrade") == "" {
					fmt.Fprintln(w, "first")
					_ = http.NewResponseController(w).Flush()
					<-cut
					panic(http.ErrAbortHandler)
				}
				connection, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					return
				}
				fmt.Fprint(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst\n")
				<-cut
				_ = connection.Close()
			}))
			key := newKey(t)
			session, grant := f.create(t, key, change)
			response, connection := f.dialWith(t, f.addressOf(grant), key, upgradeOf(grant))
			if response.StatusCode >= http.StatusBadRequest {
				t.Fatalf("the answer is %d", response.StatusCode)
			}
			f.await(t, session, v1alpha.ReasonSessionConnected)
			close(cut)
			began := time.Now()
			_, _ = io.Copy(io.Discard, connection) // it ends, with an error or without
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the client is cut off after %s", took)
			}
			_ = connection.Close() // as clients do
			ended := f.await(t, session, v1alpha.ReasonSessionUnreachable)
			if message := ended.Status.Conditions[0].Message; !strings.Contains(message, f.cell.Name) {
				t.Errorf("the message is %q", message)
			}
		})
	}
}

// TestHeadersAreBounded: a client cannot send more headers than a replica keeps.
func TestHeadersAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, endless)
	transport := &http.Transport{TLSClientConfig: f.clientWith(t, nil)}
	defer transport.CloseIdleConnections()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, f.url, nil)
	request.RequestURI = ""
	request.Header.Set("X-Large", strings.Repeat("a", 64<<10))
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("the answer is %d", response.StatusCode)
	}
}

// TestSlowClient verifies that a client that sends its request byte by byte is disconnected.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t, endless)
	_, grant := f.create(t, newKey(t))
	connection := f.connect(t, f.addressOf(grant), nil)
	received := make(chan struct{})
	go func() {
		defer close(received)
		_, _ = io.Copy(io.Discard, connection) // the end may be a reset
	}()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	began := time.Now()
	for {
		select {
		case <-received:
			if took := time.Since(began); took > 2*headerTimeout {
				t.Errorf("the client is disconnected after %s", took)
			}
			return
		case <-ticker.C:
			_, _ = connection.Write([]byte("G")) // it fails once the replica has closed the connection
		}
	}
}

// TestHostileClient verifies that what a client sends does not stay in the memory of a replica: one frame that does not
// end.
func TestHostileClient(t *testing.T) {
	const size, most = 128 << 20, 24 << 20
	received := make(chan int64, 1)
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = connection.Close() }()
		fmt.Fprint(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		n, _ := io.Copy(io.Discard, io.LimitReader(buffered, size))
		received <- n
	}))
	key := newKey(t)
	_, grant := f.create(t, key, exec)
	response, connection := f.dial(t, f.addressOf(grant), key)
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %d", response.StatusCode)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	// A masked frame of 2^62 bytes for the error channel, which only a server writes.
	fmt.Fprint(connection, "\x82\xff\x40\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03")
	piece := []byte(strings.Repeat("a", 64<<10))
	for range size / len(piece) {
		if _, err := connection.Write(piece); err != nil {
			break
		}
	}
	if got := <-received; got < size {
		t.Fatalf("%d bytes came through", got)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
		t.Errorf("%d bytes were allocated for %d", allocated, size)
	}
}

// TestHostileKubelet verifies that what a cell sends does not stay in the memory of a replica, in logs and in frames
// that do not end.
func TestHostileKubelet(t *testing.T) {
	const size, most = 128 << 20, 24 << 20
	piece := []byte(strings.Repeat("a", 64<<10))
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := io.Writer(w)
		if r.Header.Get("Upgrade") != "" {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer func() { _ = connection.Close() }()
			// One frame of the error channel of 2^62 bytes.
			fmt.Fprint(connection,
				"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x82\x7f\x40\x00\x00\x00\x00\x00\x00\x00\x03")
			to = connection
		}
		for range size / len(piece) {
			if _, err := to.Write(piece); err != nil {
				return
			}
		}
	}))
	key := newKey(t)
	for name, change := range map[string]func(*v1alpha.InstanceSessionSpec){"a log": func(*v1alpha.InstanceSessionSpec) {}, "a frame": exec} {
		_, grant := f.create(t, key, change)
		header := http.Header{}
		if grant.Spec.Type == v1alpha.SessionExec {
			header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
		}
		response, connection := f.dialWith(t, f.addressOf(grant), key, header)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body := io.Reader(connection)
		if grant.Spec.Type == v1alpha.SessionLogs {
			body = response.Body
		}
		got, err := io.Copy(io.Discard, body)
		runtime.ReadMemStats(&after)
		if got < size/2 {
			t.Errorf("%s: %d bytes came through, %v", name, got, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
			t.Errorf("%s: %d bytes were allocated for %d", name, allocated, got)
		}
	}
}
