// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/internal/listeners"
	"github.com/karmada-compute/karmada-compute/webhook/rotation/paths"
)

const (
	// idleTimeout is longer than the 90 s after which API servers close idle connections: otherwise the server could close
	// a connection on which a request is being sent.
	idleTimeout = 120 * time.Second
	// finishTimeout is how long requests in flight may take once no more are accepted: the longest timeout of API servers.
	finishTimeout = maxTimeout
	// headerTimeout bounds how long the headers of a request may take. Go measures it for the first request of a
	// connection from the handshake on, and API servers keep connections that they have opened and not used yet as long as
	// others.
	headerTimeout = idleTimeout
	// answerTimeout bounds a request from its headers to the end of its answer.
	answerTimeout = maxTimeout + 10*time.Second
)

// bounds are the bounds of the port for webhooks. Of a connection that an API server keeps and has not used yet, its
// port knows no more than of others' connections: the API server's own share of them is far below the share of a
// source.
var bounds = listeners.Bounds{Unproved: 1000, PerSource: 250, Proved: 1000, First: 10 * time.Second}

// Certificates provides the serving certificate.
type Certificates interface {
	// GetCertificate returns the certificate for a handshake.
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Start keeps the certificate valid until ctx ends.
	Start(ctx context.Context) error
}

// Paths knows the secrets at the ends of webhooks' paths, which callers that have no credentials give instead.
type Paths interface {
	// Accepts reports whether a secret may follow the path of a webhook. Its duration reveals nothing about the secret.
	Accepts(path, secret string) bool
	// Expose reports that an API server may have shown a path that ends in a secret. It does not wait.
	Expose(cause string)
	// Ready returns an error while it knows no secret.
	Ready() error
	// Start keeps the secrets current until ctx ends.
	Start(ctx context.Context) error
}

// Server serves webhooks and runs controllers. Run may be called once.
type Server struct {
	// Options configure the serving of webhooks.
	Options Options
	// Webhooks are served. Without webhooks, the server does not listen.
	Webhooks []Webhook
	// Certificates provides the serving certificate.
	Certificates Certificates
	// Paths reports who may call without credentials. Nil: no caller may.
	Paths Paths
	// Probe probes the dependencies of webhooks, bypassing all caches. Its first success turns the server ready. Its error
	// is an InternalError (apierrors) for a fault of this replica; any other error counts as one that all replicas share.
	Probe func(context.Context) error
	// Controllers runs controllers until its context ends. Nil: no controllers. When it fails, webhooks are drained before
	// Run returns.
	Controllers func(context.Context) error
	// ControllersBegun reports whether the requirements of the controllers are met. It turns a server without webhooks
	// ready; with webhooks, their callers do not wait for controllers. Nil: the requirements are met.
	ControllersBegun func() bool
	// Background runs as long as requests are served. Nil: nothing runs.
	Background func(context.Context) error
	// Streams reports that Background serves clients with the certificates, so that a server without webhooks needs them
	// and shuts down as one with webhooks.
	Streams bool
	// Registerer registers the metrics.
	Registerer prometheus.Registerer
	// Clock is for timers and tickers.
	Clock clock.WithTicker
	// Log gets changes of readiness, outages and refused callers.
	Log logr.Logger

	readiness *readiness
	guard     *guard
	metrics   *metrics
	waiting   *waiting
	// handshakes that fail are exposures.
	handshakes handshakes
	// clientCA is nil when there is no --client-ca-file.
	clientCA *dynamiccertificates.DynamicFileCAContent
}

// Run runs until ctx ends, and then shuts down without losing a request: it is unready at once and controllers stop,
// but requests are served for the shutdown delay, each answered with `Connection: close`. Then callers that still keep
// connections are sent elsewhere.
func (s *Server) Run(ctx context.Context) error {
	if err := s.prepare(); err != nil {
		return err
	}
	listener, err := s.listen(ctx)
	if err != nil {
		return err
	}
	// Serving outlives ctx by the shutdown delay.
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	group, serving := errgroup.WithContext(serving)
	server := s.httpServer()
	s.serve(serving, group, server, listener)

	controllers, stopControllers := context.WithCancel(ctx)
	defer stopControllers()
	ended := make(chan error, 1)
	go func() { ended <- s.runControllers(controllers) }()

	var failure error
	stopped := false
	select {
	case <-ctx.Done():
	case <-serving.Done():
	case failure = <-ended:
		stopped = true
	}
	s.readiness.draining.Store(true)
	stopControllers()
	s.drain(serving, server, listener)
	if !stopped {
		failure = <-ended
	}
	stopServing()
	return errors.Join(failure, group.Wait())
}

func (s *Server) prepare() error {
	var err error
	s.metrics = newMetrics(s.Registerer, len(s.Webhooks) > 0)
	if s.clientCA, err = s.Options.clientCA(); err != nil {
		return err
	}
	if s.guard, err = newGuard(&s.Options, s.clientCA, s.Log.WithName("access"), func(name string) {
		s.metrics.requests.WithLabelValues(name, string(unauthorized)).Inc()
	}); err != nil {
		return err
	}
	s.guard.tokens = listeners.NewTokens(s.Clock)
	s.readiness = &readiness{
		windows: map[string]*window{}, probe: s.Probe, serving: s.certified, idle: s.idle, metrics: s.metrics,
		clock: s.Clock, log: s.Log.WithName("readiness"),
	}
	s.waiting = &waiting{connections: map[net.Conn]*connection{}}
	if s.Paths != nil {
		s.handshakes.failed = func() { s.Paths.Expose(paths.CauseHandshake) }
	}
	// Without webhooks no request needs a lookup.
	s.readiness.started.Store(len(s.Webhooks) == 0)
	return nil
}

// idle reports that a server without webhooks waits with its controllers.
func (s *Server) idle() bool {
	return len(s.Webhooks) == 0 && s.Controllers != nil && s.ControllersBegun != nil && !s.ControllersBegun()
}

// certified returns an error while there is no serving certificate for webhooks, or callers without credentials are not
// known.
func (s *Server) certified() error {
	if len(s.Webhooks) == 0 && !s.Streams {
		return nil
	}
	if _, err := s.Certificates.GetCertificate(&tls.ClientHelloInfo{}); err != nil || s.Paths == nil {
		return err
	}
	return s.Paths.Ready()
}

func (s *Server) listen(ctx context.Context) (net.Listener, error) {
	if len(s.Webhooks) == 0 {
		return nil, nil
	}
	listener, err := listeners.Listen(ctx, s.Options.address(), bounds)
	if err != nil {
		return nil, fmt.Errorf("serve webhooks, see --webhook-bind-address and --webhook-port: %w", err)
	}
	return listener, nil
}

// httpServer serves the webhooks.
func (s *Server) httpServer() *http.Server {
	mux := http.NewServeMux()
	for _, webhook := range s.Webhooks {
		s.metrics.announce(webhook.Name)
		var handler http.Handler = &chain{
			name: webhook.Name, next: webhook.Handler, metrics: s.metrics, record: s.readiness.recorder(webhook.Name),
			log: s.Log.WithName("webhooks"),
		}
		mux.Handle("POST "+webhook.Path, s.closing(s.guard.wrap(webhook.Name, handler)))
		if s.Paths != nil {
			mux.Handle("POST "+webhook.Path+"/{"+secretSegment+"}", s.closing(s.guard.wrapSecret(webhook, s.Paths, handler)))
		}
	}
	server := listeners.NewServer(mux, listeners.Timeouts{Header: headerTimeout, Body: maxTimeout, Answer: answerTimeout, Idle: idleTimeout})
	server.TLSConfig = s.tlsConfig()
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		s.waiting.follow(conn, state)
		s.handshakes.follow(conn, state)
	}
	return server
}

// tlsConfig requests client certificates and leaves their verification to the guard, which follows changes of the
// bundle. It offers HTTP/1.1 only, as API servers use for webhooks: its connections can be closed after an answer.
func (s *Server) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		ClientAuth:     tls.RequestClientCert,
		GetCertificate: s.certificate,
		NextProtos:     []string{"http/1.1"},
	}
}

// closing closes connections after an answer while callers should use other replicas.
func (s *Server) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.readiness.closing() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// serve starts the listeners and their dependencies.
func (s *Server) serve(ctx context.Context, group *errgroup.Group, server *http.Server, listener net.Listener) {
	if listener != nil {
		group.Go(func() error {
			// drain closes the listener.
			if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
				return fmt.Errorf("serve webhooks: %w", err)
			}
			return nil
		})
		group.Go(func() error { s.readiness.run(ctx); return nil })
	}
	if listener != nil && s.Paths != nil {
		group.Go(func() error { return s.Paths.Start(ctx) })
	}
	if listener != nil || s.Streams || s.Options.Metrics != "0" {
		group.Go(func() error { return s.Certificates.Start(ctx) })
	}
	if s.clientCA != nil {
		group.Go(func() error { s.clientCA.Run(ctx, 1); return nil })
	}
	if s.Background != nil {
		group.Go(func() error { return s.Background(ctx) })
	}
	if s.Options.Metrics != "0" {
		group.Go(func() error { return s.serveMetrics(ctx) })
	}
	if s.Options.Health != "0" {
		group.Go(func() error { return s.serveHealth(ctx) })
	}
}

func (s *Server) runControllers(ctx context.Context) error {
	if s.Controllers == nil {
		<-ctx.Done()
		return nil
	}
	if err := s.Controllers(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("run the controllers: %w", err)
	}
	return nil
}

// drain serves requests during the shutdown delay, and then sends callers elsewhere and waits for requests in flight.
func (s *Server) drain(serving context.Context, server *http.Server, listener net.Listener) {
	if len(s.Webhooks) == 0 && !s.Streams || serving.Err() != nil {
		return
	}
	s.Log.Info("Shutting down: not ready, still serving requests", "delay", s.Options.ShutdownDelay)
	select {
	case <-serving.Done():
	case <-s.Clock.After(s.Options.ShutdownDelay):
	}
	if listener == nil {
		return
	}
	finishing, cancel := context.WithTimeout(context.WithoutCancel(serving), finishTimeout)
	defer cancel()
	// Shutdown closes connections that wait for a request, and drops requests that it finds on others. So none must be
	// open.
	s.waiting.end(finishing)
	_ = listener.Close() // it cannot be closed before
	s.waiting.end(finishing)
	if err := server.Shutdown(finishing); err != nil && !errors.Is(err, net.ErrClosed) {
		s.Log.Error(err, "Requests in flight were aborted", "after", finishTimeout)
	}
}

func (s *Server) serveMetrics(ctx context.Context) error {
	served := &listeners.Metrics{
		Address: s.Options.Metrics, CertDir: s.Options.MetricsCertDir, Certificate: s.Certificates.GetCertificate,
		Others: s.Options.MetricsHandlers,
		Guard:  func(next http.Handler) (http.Handler, error) { return s.guard.wrap("metrics", next), nil },
	}
	return served.Start(ctx)
}

func (s *Server) serveHealth(ctx context.Context) error {
	listener, err := listeners.Listen(ctx, s.Options.Health, listeners.Probes)
	if err != nil {
		return fmt.Errorf("serve probes, see --health-probe-bind-address: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.readiness.check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	if err := listeners.Serve(ctx, listeners.NewServer(mux, listeners.ProbeTimeouts), listener, 0); err != nil {
		return fmt.Errorf("serve probes: %w", err)
	}
	return nil
}
