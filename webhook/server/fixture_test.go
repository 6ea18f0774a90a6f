// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// pki is a CA.
type pki struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newPKI(t *testing.T) *pki {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &pki{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (p *pki) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(p.cert)
	return pool
}

func (p *pki) issue(t *testing.T, name string, groups ...string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name, Organization: groups}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, p.cert, key.Public(), p.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// certificate implements Certificates.
type certificate struct{ *tls.Certificate }

func (c certificate) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.Certificate, nil
}

func (certificate) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// newDelegate is an API server that knows the token "good" of user "tom", and allows tom and ann to call /open.
func newDelegate(t *testing.T) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		switch r.URL.Path {
		case "/apis/authentication.k8s.io/v1/tokenreviews":
			var review authenticationv1.TokenReview
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			if review.Spec.Token == "good" {
				review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: "tom"}}
			}
			answer = review
		case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
			var review authorizationv1.SubjectAccessReview
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			attributes := review.Spec.NonResourceAttributes
			review.Status.Allowed = (review.Spec.User == "tom" || review.Spec.User == "ann") && attributes.Path == "/open" &&
				attributes.Verb == "post"
			answer = review
		default:
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// running is a server that runs.
type running struct {
	server *Server
	pki    *pki
	url    string
	health string
	stop   context.CancelFunc
	ended  chan error
}

// secrets implements Paths with a secret for each path.
type secrets map[string]string

func (s secrets) Accepts(path, secret string) bool { return s[path] == secret }

func (secrets) Expose(string) {}

func (secrets) Ready() error { return nil }

func (secrets) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// start runs a server with webhooks at /open and /closed.
func start(t *testing.T, change func(*Server)) *running {
	t.Helper()
	r := &running{pki: newPKI(t), ended: make(chan error, 1)}
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, r.pki.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	port, health := testenv.FreePort(t), testenv.FreeAddress(t)
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		_, _ = w.Write(body)
	})
	r.server = &Server{
		Options: Options{
			BindAddress: "127.0.0.1", Port: port, ClientCAFile: ca, AllowedGroups: []string{"callers"},
			Delegate: newDelegate(t), Metrics: "0", Health: health,
		},
		Webhooks: []Webhook{
			{Name: "open", Path: "/open", Handler: echo}, {Name: "closed", Path: "/closed", Handler: echo},
		},
		Paths:        secrets{"/open": "first-secret", "/closed": "second-secret"},
		Certificates: certificate{r.pki.issue(t, "server")},
		Probe:        func(context.Context) error { return nil },
		Registerer:   prometheus.NewRegistry(),
		Clock:        clock.RealClock{},
		Log:          logr.Discard(),
	}
	if change != nil {
		change(r.server)
	}
	r.url, r.health = "https://"+r.server.Options.address(), "http://"+health
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() { r.ended <- r.server.Run(ctx) }()
	t.Cleanup(func() { r.finish(t) })
	r.eventually(t, func() error {
		if len(r.server.Webhooks) > 0 && r.ready() != nil {
			return r.ready()
		}
		return nil
	})
	return r
}

// finish stops the server, if it runs, and returns how it ended.
func (r *running) finish(t *testing.T) {
	t.Helper()
	r.stop()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
		r.ended <- nil
	case <-time.After(time.Minute):
		t.Error("the server does not end")
	}
}

func (r *running) eventually(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.After(time.Minute)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case ended := <-r.ended:
			r.ended <- ended
			t.Fatalf("the server ended: %v; %v", ended, err)
		case <-deadline:
			t.Fatal(err)
		case <-ticker.C:
		}
	}
}

// ready calls the readiness endpoint.
func (r *running) ready() error {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, r.health+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", body)
	}
	return nil
}

// client is a client with a certificate, unless it is nil.
func (r *running) client(t *testing.T, cert *tls.Certificate) *http.Client {
	t.Helper()
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: r.pki.pool()}
	if cert != nil {
		config.Certificates = []tls.Certificate{*cert}
	}
	transport := &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 25}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// post returns the answer's status and body, and whether the server asks to close the connection.
func (r *running) post(
	client *http.Client, path string, body []byte, header http.Header,
) (status int, answer string, closing bool, err error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, r.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", false, err
	}
	if header != nil {
		request.Header = header
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", false, err
	}
	read, err := io.ReadAll(response.Body)
	return response.StatusCode, string(read), response.Close, errors.Join(err, response.Body.Close())
}
