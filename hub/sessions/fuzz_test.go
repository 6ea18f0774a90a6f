// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FuzzRequest verifies that an unproved client always gets the one refusal, and that the hub is only asked for grants.
func FuzzRequest(f *testing.F) {
	const path = "/sessions/north/default/logs-1/0b8b1c38-7e0f-4d0c-b6f3-0d9d6d6f9b11"
	for _, seed := range []string{
		"GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET " + path + "?port=80 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"GET /sessions/a/b/c/..%2f..%2fsecrets HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na",
		"GET /sessions/../metrics HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, sent string, withKey bool) {
		request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(sent)))
		if err != nil {
			return
		}
		request.TLS = &tls.ConnectionState{}
		if withKey {
			request.TLS.PeerCertificates = []*x509.Certificate{{RawSubjectPublicKeyInfo: []byte("key")}}
		}
		server, err := New(Options{
			Grants: &Grants{Hub: onlyGrants{t: t}, Namespace: "grants", Limits: Limits{Streams: 1}, Clock: clock.RealClock{}},
			Hub:    "https://hub.example", Clock: clock.RealClock{}, Registerer: prometheus.NewRegistry(), Log: logr.Discard(),
		})
		if err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		server.handler().ServeHTTP(answer, request)
		if answer.Code != http.StatusNotFound || answer.Body.String() != refusal+"\n" {
			t.Fatalf("%q is answered with %d %q", sent, answer.Code, answer.Body.String())
		}
	})
}

// onlyGrants notes what is asked of the hub, and has nothing.
type onlyGrants struct {
	client.WithWatch
	t *testing.T
}

// Get accepts names of grants only.
func (g onlyGrants) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	uid, ok := strings.CutPrefix(key.Name, "session-")
	if _, isConfigMap := object.(*corev1.ConfigMap); !ok || !isUID(types.UID(uid)) || !isConfigMap || key.Namespace != "grants" {
		g.t.Fatalf("the hub is asked for %T %s", object, key)
	}
	return fmt.Errorf("nothing: %w", context.Canceled)
}
