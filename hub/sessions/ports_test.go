// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// kubelet connects streams to ports of this machine, as a kubelet does. It implements httpstream.Dialer with a
// connection in memory.
type kubelet struct {
	t *testing.T
	// asked receives the ports that streams name.
	asked chan string
}

// Dial multiplexes streams on a connection.
func (k kubelet) Dial(...string) (httpstream.Connection, string, error) {
	near, far := net.Pipe()
	go func() {
		_, err := spdy.NewServerConnection(far, k.streams())
		if err != nil && !errors.Is(err, io.EOF) {
			k.t.Errorf("serve SPDY: %v", err)
		}
	}()
	connection, err := spdy.NewClientConnection(&framed{Conn: near})
	return connection, "", err
}

// streams handles the two streams of a connection.
func (k kubelet) streams() httpstream.NewStreamHandler {
	failures := make(chan httpstream.Stream, 1)
	return func(stream httpstream.Stream, _ <-chan struct{}) error {
		if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
			failures <- stream
			return nil
		}
		go func() { k.connect(stream, <-failures) }()
		return nil
	}
}

func (k kubelet) connect(data, failures httpstream.Stream) {
	port := data.Headers().Get(corev1.PortHeader)
	k.asked <- port
	defer func() { _, _ = data.Close(), failures.Close() }()
	to, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port)) //nolint:noctx // a test
	if err != nil {
		fmt.Fprintf(failures, "connection refused on port %s", port)
		return
	}
	defer func() { _ = to.Close() }()
	go func() {
		_, _ = io.Copy(to, data)
		if half, ok := to.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	}()
	_, _ = io.Copy(data, to)
}

// upper listens on a port and returns, after the end of the received data, the same data in capitals.
func upper(t *testing.T) int32 {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				text, _ := io.ReadAll(connection)
				fmt.Fprint(connection, strings.ToUpper(string(text)))
				_ = connection.Close()
			}()
		}
	}()
	return portOf(t, listener.Addr())
}

func portOf(t *testing.T, address net.Addr) int32 {
	t.Helper()
	_, text, err := net.SplitHostPort(address.String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(port)
}

// TestPorts verifies that a client reaches the ports of its session and no other, several times, with half-closed
// connections.
func TestPorts(t *testing.T) {
	port, closed := upper(t), int32(1)
	cell := kubelet{t, make(chan string, 10)}
	var at *url.URL
	f := newFixture(t, http.NotFoundHandler(), func(o *Options) {
		o.Ports = func(to *url.URL) (httpstream.Dialer, error) {
			at = to
			return cell, nil
		}
	})
	f.declarePorts(t, port, closed)
	key := newKey(t)
	session, grant := f.create(t, key, func(s *v1alpha.InstanceSessionSpec) {
		s.Type, s.Ports = v1alpha.SessionPortForward, []int32{port, closed}
	})
	f.await(t, session, v1alpha.ReasonSessionReady)
	tunnel := func(port, upgrade string) (*http.Response, interface {
		io.ReadWriteCloser
		CloseWrite() error
	}, *bufio.Reader,
	) {
		response, connection := f.dialWith(t, f.addressOf(grant)+"?port="+port, key, http.Header{"Upgrade": {upgrade}})
		return response, connection, bufio.NewReader(connection)
	}
	for _, c := range []struct{ port, upgrade string }{
		{"22", TunnelProtocol},
		{"", TunnelProtocol},
		{fmt.Sprint(port), "websocket"},
		{fmt.Sprintf("%d&port=22", closed+1), TunnelProtocol},
		{"4294967297", TunnelProtocol},
	} {
		if response, _, _ := tunnel(c.port, c.upgrade); response.StatusCode != http.StatusBadRequest {
			t.Errorf("%+v: %d", c, response.StatusCode)
		}
	}
	if len(cell.asked) > 0 {
		t.Fatalf("the cell is asked for port %s", <-cell.asked)
	}
	for range 2 {
		response, connection, reader := tunnel(fmt.Sprint(port), TunnelProtocol)
		if response.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("the answer is %d", response.StatusCode)
		}
		fmt.Fprint(connection, "hello")
		if err := connection.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(reader); string(text) != "HELLO" {
			t.Errorf("got %q, %v", text, err)
		}
		if got := <-cell.asked; got != fmt.Sprint(port) {
			t.Errorf("the cell is asked for port %s", got)
		}
	}
	if want := "/proxy/api/v1/namespaces/" + f.HubNamespace + "/pods/web-main-dfw-0/portforward"; !strings.HasSuffix(at.Path, want) {
		t.Errorf("the path in the cell is %s", at.Path)
	}
	_, connection, reader := tunnel(fmt.Sprint(closed), TunnelProtocol)
	defer func() { _ = connection.Close() }()
	if text, _ := io.ReadAll(reader); len(text) > 0 {
		t.Errorf("a closed port answers %q", text)
	}
	f.await(t, session, v1alpha.ReasonSessionFailed)
}

// TestPortsEnd verifies that a withdrawn permission closes the connections to ports.
func TestPortsEnd(t *testing.T) {
	t.Parallel()
	port := upper(t)
	f := newFixture(t, http.NotFoundHandler(), func(o *Options) {
		o.Ports = func(*url.URL) (httpstream.Dialer, error) { return kubelet{t, make(chan string, 10)}, nil }
	})
	f.declarePorts(t, port)
	key := newKey(t)
	session, grant := f.create(t, key, func(s *v1alpha.InstanceSessionSpec) { s.Type, s.Ports = v1alpha.SessionPortForward, []int32{port} })
	response, connection := f.dialWith(t, fmt.Sprintf("%s?port=%d", f.addressOf(grant), port), key, http.Header{"Upgrade": {TunnelProtocol}})
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %d", response.StatusCode)
	}
	f.project.refuses.Store(true)
	began := time.Now()
	if n, err := connection.Read(make([]byte, 1)); n > 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the connection was closed after %s", took)
	}
	f.await(t, session, v1alpha.ReasonSessionRevoked)
}
