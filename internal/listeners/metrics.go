// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package listeners

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// metricsPath is where metrics are served.
const metricsPath = "/metrics"

var (
	metricsBounds = Bounds{Unproved: 128, PerSource: 32, Proved: 64, First: 10 * time.Second}
	// A profile takes as long as its caller wants, up to the time for an answer.
	metricsTimeouts = Timeouts{Header: 30 * time.Second, Body: 10 * time.Second, Answer: 5 * time.Minute, Idle: 90 * time.Second}
)

// Metrics serves the metrics of the process, and other pages for its operators, over TLS.
type Metrics struct {
	// Address is where they are served.
	Address string
	// CertDir has tls.crt and tls.key. Empty: Certificate returns the certificate or, if it is nil, the process signs one
	// itself.
	CertDir     string
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Others are served beside the metrics, by path.
	Others map[string]http.Handler
	// Guard puts the authentication and authorization of callers in front of a handler.
	Guard func(http.Handler) (http.Handler, error)
}

// NeedLeaderElection reports that every replica serves its metrics.
func (*Metrics) NeedLeaderElection() bool { return false }

// Start serves until ctx ends. controller-runtime's server of metrics bounds no connections.
func (m *Metrics) Start(ctx context.Context) error {
	handler, err := m.handler()
	if err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	server := NewServer(handler, metricsTimeouts)
	if server.TLSConfig, err = m.tlsConfig(ctx); err != nil {
		return fmt.Errorf("serve metrics, see --metrics-cert-dir: %w", err)
	}
	listener, err := Listen(ctx, m.Address, metricsBounds)
	if err != nil {
		return fmt.Errorf("serve metrics, see --metrics-bind-address: %w", err)
	}
	if err := Serve(ctx, server, listener, time.Second); err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

func (m *Metrics) handler() (http.Handler, error) {
	mux, pages := http.NewServeMux(), map[string]http.Handler{
		metricsPath: promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}),
	}
	maps.Copy(pages, m.Others)
	for path, page := range pages {
		guarded, err := m.Guard(page)
		if err != nil {
			return nil, err
		}
		mux.Handle(path, guarded)
	}
	return mux, nil
}

// tlsConfig asks for certificates, which the guard may verify. HTTP/2 would give each connection many requests at the
// same time.
func (m *Metrics) tlsConfig(ctx context.Context) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert, NextProtos: []string{"http/1.1"}, GetCertificate: m.Certificate,
	}
	switch {
	case m.CertDir != "":
		watched, err := certwatcher.New(filepath.Join(m.CertDir, "tls.crt"), filepath.Join(m.CertDir, "tls.key"))
		if err != nil {
			return nil, err
		}
		// Without the watch it reads the files again now and then.
		go func() { _ = watched.Start(ctx) }()
		config.GetCertificate = watched.GetCertificate
	case m.Certificate == nil:
		certificate, key, err := certutil.GenerateSelfSignedCertKeyWithFixtures("localhost", []net.IP{{127, 0, 0, 1}}, nil, "")
		if err != nil {
			return nil, fmt.Errorf("sign a certificate: %w", err)
		}
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("sign a certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
