// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// echo upgrades a connection, and returns received data until the client closes it.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "websocket" {
		http.Error(w, "not upgraded", http.StatusBadRequest)
		return
	}
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	fmt.Fprint(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	_, _ = io.Copy(connection, buffered)
}

// upgrade opens an upgraded connection, and keeps it until the test ends.
func (f *fixture) upgrade(t *testing.T, address string, key *ecdsa.PrivateKey) *http.Response {
	t.Helper()
	response, _ := f.dial(t, address, key)
	return response
}

func (f *fixture) dial(t *testing.T, address string, key *ecdsa.PrivateKey) (*http.Response, *tls.Conn) {
	t.Helper()
	return f.dialWith(t, address, key, http.Header{"Upgrade": {"websocket"}})
}

// dialWith opens a connection that is upgraded according to header.
func (f *fixture) dialWith(t *testing.T, address string, key *ecdsa.PrivateKey, header http.Header) (*http.Response, *tls.Conn) {
	t.Helper()
	connection := f.connect(t, address, key)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	if header.Get("Upgrade") != "" {
		header.Set("Connection", "Upgrade")
	}
	if err := request.Write(connection); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), request)
	if err != nil {
		t.Fatal(err)
	}
	return response, connection
}

// connect opens a connection to the server of an address.
func (f *fixture) connect(t *testing.T, address string, key *ecdsa.PrivateKey) *tls.Conn {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	dialer := &tls.Dialer{Config: f.clientWith(t, key)}
	raw, err := dialer.DialContext(t.Context(), "tcp", to.Host)
	if err != nil {
		t.Fatal(err)
	}
	connection, ok := raw.(*tls.Conn)
	if !ok {
		t.Fatalf("dialed %T", raw)
	}
	t.Cleanup(func() { _ = connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return connection
}

// TestExec: bytes flow in both directions, and the stream ends with a withdrawn permission.
func TestExec(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(echo))
	key := newKey(t)
	session, grant := f.create(t, key, exec, func(s *v1alpha.InstanceSessionSpec) { s.Stdin, s.TTY = true, true })
	f.await(t, session, v1alpha.ReasonSessionReady)
	if response := f.get(t, f.addressOf(grant), key); response.StatusCode != http.StatusBadRequest {
		t.Errorf("a command without an upgrade: %d", response.StatusCode)
	}
	response, connection := f.dial(t, f.addressOf(grant), key)
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %d", response.StatusCode)
	}
	fmt.Fprint(connection, "hello")
	got := make([]byte, 5)
	if _, err := io.ReadFull(connection, got); string(got) != "hello" {
		t.Fatalf("got %q, %v", got, err)
	}
	f.project.refuses.Store(true)
	if n, err := connection.Read(got); err == nil {
		t.Errorf("the stream continues with %d bytes", n)
	}
	f.await(t, session, v1alpha.ReasonSessionRevoked)
}

func TestTarget(t *testing.T) {
	at := place{cell: "dfw-1", namespace: "ns-1", pod: "web-0"}
	const prefix = "/apis/cluster.karmada.io/v1alpha1/clusters/dfw-1/proxy/api/v1/namespaces/ns-1/pods/web-0/"
	since := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for want, spec := range map[string]v1alpha.InstanceSessionSpec{
		"log": {Type: v1alpha.SessionLogs},
		"log?container=app&limitBytes=9&previous=true&sinceSeconds=7&timestamps=true": {
			Type: v1alpha.SessionLogs, ContainerName: "app",
			Logs: &v1alpha.SessionLogOptions{Previous: true, Timestamps: true, SinceSeconds: new(int64(7)), LimitBytes: new(int64(9))},
		},
		"log?sinceTime=2026-01-02T03%3A04%3A05Z": {
			Type: v1alpha.SessionLogs, Logs: &v1alpha.SessionLogOptions{SinceTime: &since},
		},
		"exec?command=sh&command=-c&command=a%26stdin%3Dtrue&stderr=true&stdin=false&stdout=true&tty=false": {
			Type: v1alpha.SessionExec, Command: []string{"sh", "-c", "a&stdin=true"},
		},
		"attach?stderr=false&stdin=true&stdout=true&tty=true": {Type: v1alpha.SessionAttach, Stdin: true, TTY: true},
	} {
		at.container = spec.ContainerName
		if got := target(at, &spec).String(); got != prefix+want {
			t.Errorf("%s, want %s", got, prefix+want)
		}
	}
}
