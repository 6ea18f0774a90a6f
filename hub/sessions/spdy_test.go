// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestFramesAreBounded verifies that a replica does not hold the large frames that the format allows, however their
// headers arrive.
func TestFramesAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		sent  string
		large bool
	}{
		"data": {
			"\x00\x00\x00\x01\x00\x00\x80\x00" + strings.Repeat("a", 32<<10) + "\x80\x03\x00\x06\x00\x00\x00\x04\x00\x00\x00\x01", false,
		},
		"large data":         {"\x00\x00\x00\x01\x00\xff\xff\xff", true},
		"large headers":      {"\x80\x03\x00\x02\x00\xff\xff\xff", true},
		"large data, second": {"\x80\x03\x00\x06\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x01\x01\xff\xff\xff", true},
	} {
		for _, piece := range []int{1, 7, 64 << 10} {
			near, far := net.Pipe()
			go func() {
				defer func() { _ = far.Close() }()
				for rest := c.sent; len(rest) > 0; {
					n, err := io.WriteString(far, rest[:min(piece, len(rest))])
					if err != nil {
						return
					}
					rest = rest[n:]
				}
			}()
			got, err := io.Copy(io.Discard, &framed{Conn: near})
			if errors.Is(err, errLargeFrame) != c.large || !c.large && got != int64(len(c.sent)) {
				t.Errorf("%s in pieces of %d: %d bytes, %v", name, piece, got, err)
			}
			_ = near.Close()
		}
	}
}

// TestDialer verifies that ports are reached through a real API server, which tunnels SPDY in WebSocket.
func TestDialer(t *testing.T) {
	t.Parallel()
	port := upper(t)
	cell := kubelet{t, make(chan string, 1)}
	f := newFixture(t, http.NotFoundHandler())
	f.runPod(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
			t.Error(err)
		}
		connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, cell.streams())
		if connection != nil {
			<-connection.CloseChan()
		}
	}))
	f.bind(t)
	config := rest.CopyConfig(testenv.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: User}
	at, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	dialer, err := NewDialer(config)(at.JoinPath("api/v1/namespaces", f.HubNamespace, "pods", f.instance.Name, "portforward"))
	if err != nil {
		t.Fatal(err)
	}
	connection, protocol, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil || protocol != portforward.PortForwardProtocolV1Name {
		t.Fatalf("protocol %q, %v", protocol, err)
	}
	opened, err := openPort(connection, port)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.close()
	fmt.Fprint(opened.data, "hello")
	opened.endOfInput()
	if text, err := io.ReadAll(opened.data); string(text) != "HELLO" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}
