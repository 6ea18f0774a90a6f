// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// idleTimeout is more than the 90 s after which API servers close connections that they do not use: were it not,
	// a request could meet the end of its connection.
	idleTimeout = 120 * time.Second
	// finishTimeout is what requests get to end once no more are accepted: the longest that an API server waits.
	finishTimeout = maxPatience
	// headerTimeout bounds how long a caller may take to say what it wants.
	headerTimeout = 10 * time.Second
)

// Certificates are what the host serves with.
type Certificates interface {
	// GetCertificate returns the certificate for a handshake.
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Start keeps the certificate valid until ctx ends.
	Start(ctx context.Context) error
}

// Host serves webhooks and runs controllers. Run may be called once.
type Host struct {
	// Options say how to serve.
	Options Options
	// Webhooks are served; without any there is no listener.
	Webhooks []Webhook
	// Certificates are served with.
	Certificates Certificates
	// Probe tries, without any cache, what webhooks need to answer. Its first success makes the host ready.
	Probe func(context.Context) error
	// Controllers run until their context ends. Nil: none. When they fail, webhooks are drained before Run returns.
	Controllers func(context.Context) error
	// Background runs as long as anything is served. Nil: nothing.
	Background func(context.Context) error
	// Registerer takes the metrics.
	Registerer prometheus.Registerer
	// Clock is the time.
	Clock clock.WithTicker
	// Log says what happens.
	Log logr.Logger

	readiness *readiness
	guard     *guard
	metrics   *metrics
	// clientCA is nil when there is no --client-ca-file.
	clientCA *dynamiccertificates.DynamicFileCAContent
}

// Run serves and runs until ctx ends, then stops without losing a request: the host is not ready any more at once and
// controllers stop, but webhooks are served for the shutdown delay, each answer with the wish to close the connection.
func (h *Host) Run(ctx context.Context) error {
	if err := h.prepare(); err != nil {
		return err
	}
	listener, err := h.listen(ctx)
	if err != nil {
		return err
	}
	// What is served outlives ctx by the shutdown delay.
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	group, serving := errgroup.WithContext(serving)
	server := h.server()
	h.serve(serving, group, server, listener)

	controllers, stopControllers := context.WithCancel(ctx)
	defer stopControllers()
	ended := make(chan error, 1)
	go func() { ended <- h.runControllers(controllers) }()

	var failure error
	stopped := false
	select {
	case <-ctx.Done():
	case <-serving.Done():
	case failure = <-ended:
		stopped = true
	}
	h.readiness.draining.Store(true)
	stopControllers()
	h.drain(serving, server)
	if !stopped {
		failure = <-ended
	}
	stopServing()
	return errors.Join(failure, group.Wait())
}

func (h *Host) prepare() error {
	var err error
	if h.metrics, err = newMetrics(h.Registerer); err != nil {
		return err
	}
	if h.clientCA, err = h.Options.clientCA(); err != nil {
		return err
	}
	if h.guard, err = newGuard(&h.Options, h.clientCA, h.Log.WithName("access"), func(name string) {
		h.metrics.requests.WithLabelValues(name, string(unauthorized)).Inc()
	}); err != nil {
		return err
	}
	h.readiness = &readiness{
		windows: map[string]*window{}, probe: h.Probe, serving: h.certified, gauge: h.metrics.ready, clock: h.Clock, log: h.Log.WithName("readiness"),
	}
	// Without webhooks there is nothing that callers could find failing.
	h.readiness.answered.Store(len(h.Webhooks) == 0)
	return nil
}

// certified fails while there is nothing to serve webhooks with.
func (h *Host) certified() error {
	if len(h.Webhooks) == 0 {
		return nil
	}
	_, err := h.Certificates.GetCertificate(&tls.ClientHelloInfo{})
	return err
}

func (h *Host) listen(ctx context.Context) (net.Listener, error) {
	if len(h.Webhooks) == 0 {
		return nil, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", h.Options.address())
	if err != nil {
		return nil, fmt.Errorf("serve webhooks, see --webhook-bind-address and --webhook-port: %w", err)
	}
	return listener, nil
}

// server is the server of webhooks.
func (h *Host) server() *http.Server {
	mux := http.NewServeMux()
	for _, webhook := range h.Webhooks {
		h.metrics.announce(webhook.Name)
		var handler http.Handler = &chain{
			name: webhook.Name, next: webhook.Handler, metrics: h.metrics, window: h.readiness.windowFor(webhook.Name), log: h.Log.WithName("webhooks"),
		}
		if !slices.Contains(h.Options.Unauthenticated, webhook.Name) {
			handler = h.guard.wrap(webhook.Name, handler)
		}
		mux.Handle("POST "+webhook.Path, h.closing(handler))
	}
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		TLSConfig:         h.tlsConfig(),
	}
}

// tlsConfig asks for client certificates and leaves their verification to the guard, which follows changes of the
// bundle. It speaks HTTP/1.1 as API servers do to webhooks: there a connection can be closed after an answer.
func (h *Host) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		ClientAuth:     tls.RequestClientCert,
		GetCertificate: h.Certificates.GetCertificate,
		NextProtos:     []string{"http/1.1"},
	}
}

// closing sends callers to other replicas while this one should not be called.
func (h *Host) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.readiness.closing() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// serve starts everything that is served.
func (h *Host) serve(ctx context.Context, group *errgroup.Group, server *http.Server, listener net.Listener) {
	if listener != nil {
		group.Go(func() error {
			if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve webhooks: %w", err)
			}
			return nil
		})
		group.Go(func() error { h.readiness.run(ctx); return nil })
	}
	if listener != nil || h.Options.Metrics != "0" {
		group.Go(func() error { return h.Certificates.Start(ctx) })
	}
	if h.clientCA != nil {
		group.Go(func() error { h.clientCA.Run(ctx, 1); return nil })
	}
	if h.Background != nil {
		group.Go(func() error { return h.Background(ctx) })
	}
	if h.Options.Metrics != "0" {
		group.Go(func() error { return h.serveMetrics(ctx) })
	}
	if h.Options.Health != "0" {
		group.Go(func() error { return h.serveHealth(ctx) })
	}
}

func (h *Host) runControllers(ctx context.Context) error {
	if h.Controllers == nil {
		<-ctx.Done()
		return nil
	}
	if err := h.Controllers(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("run the controllers: %w", err)
	}
	return nil
}

// drain serves on while callers learn that this replica is going, and then waits for the last requests.
func (h *Host) drain(serving context.Context, server *http.Server) {
	if len(h.Webhooks) == 0 || serving.Err() != nil {
		return
	}
	h.Log.Info("Not ready any more; serving what still comes", "for", h.Options.ShutdownDelay)
	select {
	case <-serving.Done():
	case <-h.Clock.After(h.Options.ShutdownDelay):
	}
	finishing, cancel := context.WithTimeout(context.WithoutCancel(serving), finishTimeout)
	defer cancel()
	if err := server.Shutdown(finishing); err != nil {
		h.Log.Error(err, "Requests were cut off", "after", finishTimeout)
	}
}

func (h *Host) serveMetrics(ctx context.Context) error {
	server, err := metricsserver.NewServer(metricsserver.Options{
		BindAddress: h.Options.Metrics, SecureServing: true,
		TLSOpts: []func(*tls.Config){func(c *tls.Config) {
			c.MinVersion, c.ClientAuth, c.GetCertificate = tls.VersionTLS13, tls.RequestClientCert, h.Certificates.GetCertificate
		}},
		FilterProvider: func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
			return func(_ logr.Logger, next http.Handler) (http.Handler, error) {
				return h.guard.wrap("metrics", next), nil
			}, nil
		},
	}, h.Options.Delegate, http.DefaultClient)
	if err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	if err := server.Start(ctx); err != nil {
		return fmt.Errorf("serve metrics, see --metrics-bind-address: %w", err)
	}
	return nil
}

func (h *Host) serveHealth(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", h.Options.Health)
	if err != nil {
		return fmt.Errorf("serve probes, see --health-probe-bind-address: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := h.readiness.check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve reports it
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve probes: %w", err)
	}
	return nil
}
