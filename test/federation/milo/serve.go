// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Planes starts the control planes of projects.
type Planes interface {
	// Start starts the kube-apiserver of a project unless it is running, and
	// returns an administrator's configuration once it is ready. It is called
	// again after an error, and concurrently for several projects.
	Start(ctx context.Context, project string) (*rest.Config, error)
}

// Options configure the stand-in.
type Options struct {
	// Listen is the address the router listens on, host:port.
	Listen string
	// CertFile and KeyFile are the router's serving certificate.
	CertFile, KeyFile string
	// ClientCAFile is the CA of the client certificates that are accepted.
	ClientCAFile string
	// Root is an administrator's configuration for the kube-apiserver of Milo's
	// root.
	Root *rest.Config
	// FrontProxy is the client certificate that the kube-apiservers accept
	// X-Remote-* headers from. Only its certificate and key are used.
	FrontProxy rest.TLSClientConfig
	// Planes starts projects.
	Planes Planes
	// Restarted is true if Milo has run before: then it does not answer correctly at first.
	Restarted bool
	// Log receives log messages. Nil: nothing is logged.
	Log *slog.Logger
}

// ReadyPath is the router's own readiness: 200 once the CRDs are installed at
// the root and Projects are watched. It needs no client certificate.
const ReadyPath = "/stand-in/readyz"

const (
	// headerTimeout bounds how long a client may take to send its headers. It is longer than clients keep a connection
	// without a request, which is 90 s: Go measures it from the handshake on.
	headerTimeout = 2 * time.Minute
	// drainTimeout bounds how long requests may continue after ctx ends;
	// watches never end by themselves.
	drainTimeout = time.Second
)

// Serve runs the router and the controller of Projects until ctx ends, and then
// returns nil. It returns only errors that no retry resolves, such as a port that
// is taken or a root that does not answer.
func Serve(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	tlsConfig, err := o.tls()
	if err != nil {
		return err
	}
	root, err := newPlane(o.Root)
	if err != nil {
		return fmt.Errorf("connect to Milo's root: %w", err)
	}
	rootBackend, err := newBackend(o.Root, o.FrontProxy)
	if err != nil {
		return fmt.Errorf("connect to Milo's root as front proxy: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("the router cannot listen, choose a free address: %w", err)
	}
	ps := newProjects(root, o, clock.RealClock{})
	rt := &router{root: rootBackend, projects: ps, ready: ps.ready.Load, log: o.Log}
	if o.Restarted {
		rt.restart = newRestart(clock.RealClock{})
	}

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHTTP(ctx, tls.NewListener(listener, tlsConfig), rt, o.Log) })
	group.Go(func() error { return ps.run(ctx) })
	return group.Wait()
}

// serveHTTP serves until ctx ends, then gives requests drainTimeout to end.
func serveHTTP(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("the router stopped: %w", err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := server.Shutdown(drain); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop the router: %w", err)
	}
	// The requests that are left are watches, which end when they are closed.
	if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the router: %w", err)
	}
	return nil
}

// tls returns the listener's configuration. The handshake does not require a
// client certificate, so that ReadyPath needs none and a caller without one gets
// a Status.
func (o *Options) tls() (*tls.Config, error) {
	certificate, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("load the router's serving certificate: %w", err)
	}
	ca, err := os.ReadFile(o.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("load the CA of client certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("no PEM certificate in the client CA file %s", o.ClientCAFile)
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{certificate},
		ClientCAs:    pool,
		ClientAuth:   tls.VerifyClientCertIfGiven,
		NextProtos:   []string{"h2", "http/1.1"},
	}, nil
}
