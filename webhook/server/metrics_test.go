// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/util/keyutil"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestMetricsAreGuarded: metrics, and the profiles beside them, are guarded, whatever the certificate is.
func TestMetricsAreGuarded(t *testing.T) {
	for name, ownCertificate := range map[string]bool{"the webhooks' certificate": false, "a certificate of their own": true} {
		t.Run(name, func(t *testing.T) {
			address := testenv.FreeAddress(t)
			r := start(t, func(s *Server) {
				s.Options.Metrics = address
				s.Options.MetricsHandlers = map[string]http.Handler{
					"/debug/": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
				}
				if ownCertificate {
					// The webhooks' certificate is one that no client trusts.
					s.Options.MetricsCertDir = writeCertificate(t, s.Certificates.(certificate).Certificate)
					s.Certificates = certificate{newPKI(t).issue(t, "server")}
				}
			})
			caller, other := r.client(t, r.pki.issue(t, "prometheus", "callers")), r.client(t, r.pki.issue(t, "mallory"))
			r.eventually(t, func() error { _, err := get(caller, "https://"+address+"/metrics"); return err })
			for _, call := range []struct {
				who    string
				client *http.Client
				path   string
				want   int
			}{
				{"a caller with the right", caller, "/metrics", http.StatusOK},
				{"a caller with the right", caller, "/debug/pprof/heap", http.StatusTeapot},
				{"another caller", other, "/metrics", http.StatusForbidden},
				{"another caller", other, "/debug/pprof/heap", http.StatusForbidden},
				{"nobody", r.client(t, nil), "/metrics", http.StatusUnauthorized},
				{"nobody", r.client(t, nil), "/debug/pprof/heap", http.StatusUnauthorized},
				{"a caller of what is not served", caller, "/other", http.StatusNotFound},
			} {
				if status, err := get(call.client, "https://"+address+call.path); err != nil || status != call.want {
					t.Errorf("%s gets %d for %s, %v", call.who, status, call.path, err)
				}
			}
		})
	}
}

func get(client *http.Client, url string) (int, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}

// writeCertificate writes a certificate as cert-manager does and returns the folder.
func writeCertificate(t *testing.T, cert *tls.Certificate) string {
	t.Helper()
	key, err := keyutil.MarshalPrivateKeyToPEM(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	var chain bytes.Buffer
	for _, der := range cert.Certificate {
		if err := pem.Encode(&chain, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "tls.crt"), chain.Bytes(), 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}
