// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/sessions"
)

// upperPorts is a cell whose ports return, after the end of what they receive, the same in capitals. It implements
// httpstream.Dialer.
type upperPorts struct{ asked chan string }

// Dial multiplexes streams on a connection in memory.
func (p upperPorts) Dial(...string) (httpstream.Connection, string, error) {
	near, far := net.Pipe()
	go func() {
		_, _ = spdy.NewServerConnection(far, func(stream httpstream.Stream, replied <-chan struct{}) error { // the client's side has the error
			go func() {
				<-replied
				if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
					p.asked <- stream.Headers().Get(corev1.PortHeader)
					text, _ := io.ReadAll(stream)
					fmt.Fprint(stream, strings.ToUpper(string(text)))
				}
				_ = stream.Close()
			}()
			return nil
		})
	}()
	connection, err := spdy.NewClientConnection(near)
	return connection, "", err
}

var forwardedAt = regexp.MustCompile(`Forwarding from (\S+) -> 80\n`)

// TestPortForward verifies that a free local port leads to the port of the session, that half-closed connections pass,
// and that an interruption ends the command.
func TestPortForward(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	cell := upperPorts{make(chan string, 10)}
	f.serveSessions(http.NotFoundHandler(), func(o *sessions.Options) {
		o.Ports = func(*url.URL) (httpstream.Dialer, error) { return cell, nil }
	})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out, ended := &buffer{}, make(chan result, 1)
	go func() {
		ended <- f.call(call{config: f.Config(), ctx: ctx, out: out}, "port-forward", "web", ":http")
	}()
	found := f.printed(out, forwardedAt)
	for range 2 {
		raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", found[1])
		if err != nil {
			t.Fatal(err)
		}
		connection, ok := raw.(*net.TCPConn)
		if !ok {
			t.Fatalf("dialed %T", raw)
		}
		fmt.Fprint(connection, "hello")
		if err := connection.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(connection); string(text) != "HELLO" || err != nil {
			t.Fatalf("the port answers %q, %v", text, err)
		}
		if port := <-cell.asked; port != "80" {
			t.Errorf("the cell is asked for port %s", port)
		}
		_ = connection.Close()
	}
	_, local, _ := net.SplitHostPort(found[1])
	f.printed(out, regexp.MustCompile("Handling connection for "+local+"\nHandling connection for "+local+"\n"))
	interrupt()
	if r := <-ended; r.code != exitInterrupted {
		t.Errorf("exit code %d, %v", r.code, r.err)
	}
}

// printed waits until a command has printed something, and returns it.
func (f *fixture) printed(out *buffer, wanted *regexp.Regexp) (found []string) {
	f.Helper()
	if err := wait.PollUntilContextTimeout(f.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		found = wanted.FindStringSubmatch(out.String())
		return found != nil, nil
	}); err != nil {
		f.Fatalf("%v: the command prints %q", err, out.String())
	}
	return found
}

// relay passes connections on to a server, until it is cut.
type relay struct {
	address string
	cut     func()
}

// newRelay listens. It passes connections on to the address that to returns.
func newRelay(t *testing.T, to func() string) relay {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(context.Background())
	t.Cleanup(cut)
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go join(ctx, from, to())
		}
	}()
	return relay{listener.Addr().String(), cut}
}

// join connects a connection with an address until either side ends, or ctx.
func join(ctx context.Context, from net.Conn, address string) {
	defer func() { _ = from.Close() }()
	to, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _, _ = from.Close(), to.Close() })
	defer stop()
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	})
	_, _ = io.Copy(from, to)
	_ = from.Close()
	copying.Wait()
}

// TestLostOnTheWay verifies that a command ends within 15 s with an error that names the cause: the replica was killed,
// or the hub was restarted or the cell lost.
func TestLostOnTheWay(t *testing.T) {
	for name, want := range map[string]string{
		"replica": "the connection to the add-on was lost", "cell": "the connection to the cell of the Instance",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.reachable()
			var toReplica, toHub relay
			f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				streams, connection := openCommand(w, r)
				if streams == nil {
					return
				}
				defer func() { _ = connection.Close() }()
				fmt.Fprint(streams[1], "running")
				_, _ = io.Copy(io.Discard, streams[0]) // until the connection is lost
			}), func(o *sessions.Options) {
				replica, hub := strings.TrimPrefix(o.URL, "https://"), strings.TrimPrefix(o.Hub, "http://")
				toReplica, toHub = newRelay(t, func() string { return replica }), newRelay(t, func() string { return hub })
				o.URL, o.Hub = "https://"+toReplica.address, "http://"+toHub.address
			})
			out, ended := &buffer{}, make(chan result, 1)
			go func() { ended <- f.call(call{config: f.Config(), out: out}, "exec", "web-texas-dfw-0", "--", "sh") }()
			f.printed(out, regexp.MustCompile("running"))
			began := time.Now()
			map[string]func(){"replica": toReplica.cut, "cell": toHub.cut}[name]()
			f.want(<-ended, 1, want)
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("the command ended after %s", took)
			}
		})
	}
}

// TestDeletedSession verifies that a followed log ends when its session is deleted, and is not continued.
func TestDeletedSession(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "2026-01-02T03:04:05.000000000Z first")
		_ = http.NewResponseController(w).Flush()
		if err := f.Client.DeleteAllOf(r.Context(), &v1alpha.InstanceSession{}, client.InNamespace(f.Namespace.Name)); err != nil {
			f.Errorf("delete the session: %v", err)
		}
		<-r.Context().Done()
	}))
	f.want(f.kubectl(f.Config(), "logs", "web-texas-dfw-0", "-f"), 1, "first\n", "the session was deleted")
}
