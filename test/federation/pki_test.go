// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/util/cert"
)

func newPKI(t *testing.T) *pki {
	t.Helper()
	p := &pki{folder: filepath.Join(t.TempDir(), "pki")}
	if err := p.create(); err != nil {
		t.Fatal(err)
	}
	return p
}

func certificate(t *testing.T, file string) *x509.Certificate {
	t.Helper()
	certs, err := cert.CertsFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return certs[0]
}

func TestServingCertificateIsTrustedOverTLS13(t *testing.T) {
	p := newPKI(t)
	certFile, keyFile := p.pair("server")
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}
	server.StartTLS()
	defer server.Close()

	f := &Federation{pki: p}
	client, err := f.httpClient()
	if err != nil {
		t.Fatal(err)
	}
	if err := httpReady(client, server.URL)(t.Context()); err != nil {
		t.Errorf("a client that trusts the CA: %v", err)
	}
	if err := httpReady(plainClient, server.URL)(t.Context()); err == nil {
		t.Error("a client that does not trust the CA got an answer")
	}
}

func TestClientCertificates(t *testing.T) {
	p := newPKI(t)
	roots := x509.NewCertPool()
	roots.AddCert(certificate(t, p.caFile()))
	tests := map[string]struct {
		wantGroups []string
	}{
		Admin:                            {wantGroups: []string{"system:masters"}},
		"kwok":                           {wantGroups: []string{"system:masters"}},
		"karmada-compute":                {wantGroups: []string{"karmada-compute"}},
		"system:serviceaccount:a:b":      {wantGroups: []string{"system:serviceaccounts", "system:serviceaccounts:a"}},
		"system:node:a/b":                {wantGroups: []string{"system:node:a/b"}},
		"../../../../../tmp/not-outside": {wantGroups: []string{"../../../../../tmp/not-outside"}},
	}
	for user, test := range tests {
		t.Run(user, func(t *testing.T) {
			certFile, keyFile, err := p.client(identity(user))
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Dir(certFile) != p.path("users") {
				t.Errorf("certificate lies in %s", certFile)
			}
			cert := certificate(t, certFile)
			if cert.Subject.CommonName != user || !slices.Equal(cert.Subject.Organization, test.wantGroups) {
				t.Errorf("subject %v, want user %s in %v", cert.Subject, user, test.wantGroups)
			}
			if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
				t.Error(err)
			}
			info, err := os.Stat(keyFile)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("key file has mode %v", info.Mode())
			}
			again, _, err := p.client(identity(user))
			if err != nil {
				t.Fatal(err)
			}
			if !certificate(t, again).Equal(cert) {
				t.Error("a second use made another certificate")
			}
		})
	}
}

func TestServiceAccountKeysDifferByPlane(t *testing.T) {
	p := newPKI(t)
	var keys [][]byte
	for _, plane := range []string{"hub", "cell-dfw"} {
		public, _, err := p.serviceAccountKeys(plane)
		if err != nil {
			t.Fatal(err)
		}
		key, err := os.ReadFile(public)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	if slices.Equal(keys[0], keys[1]) {
		t.Error("a token of a cell would be valid at the hub")
	}
}
