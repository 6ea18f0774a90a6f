// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/fair"
	"github.com/karmada-compute/karmada-compute/internal/listeners"
)

const (
	// headerTimeout bounds the handshake, and the headers of a request.
	headerTimeout = 10 * time.Second
	// otherConnections is how many connections of clients with a key there may be besides streams.
	otherConnections = 200
	// lookups is how many requests are looked up at the same time, of clients that have proved nothing yet. Others wait.
	lookups = 64
	// lookupTimeout bounds the lookup of a session, and the wait for it.
	lookupTimeout = 10 * time.Second
	// watchInterval is the interval between reviews of a stream. Allowed reviews may be 5 s old: a withdrawn permission
	// ends a stream within 10 s.
	watchInterval = 3 * time.Second
)

// User is the identity under which the hub requests streams, and under which Karmada's proxy reaches cells.
const User = "karmada-compute-sessions"

// PathPrefix begins the path of every session.
const PathPrefix = "/sessions/"

// refusal is the one answer to every client that does not prove that a session is its own: it is the same for a session
// that does not exist, for another key, after the session has expired, and for a second use.
const refusal = "there is no such session, or it cannot be used with this key, or not any more"

// Options configure a Server.
type Options struct {
	// Grants are the grants on the hub.
	Grants *Grants
	// Projects reaches the projects.
	Projects Projects
	// Cells sends requests through Karmada's proxy on the hub.
	Cells http.RoundTripper
	// Ports connects to ports through Karmada's proxy on the hub.
	Ports Dialer
	// Hub is the URL of the hub.
	Hub string
	// Address is where sessions are served.
	Address string
	// Certificate returns the serving certificate.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// URL is where clients reach any replica, and Bundle returns the CAs in PEM that they trust for it.
	URL    string
	Bundle func(context.Context) ([]byte, error)
	// Delay is how long streams are served after the shutdown began.
	Delay time.Duration
	// BytesPerSecond limits each stream, in both directions together. 0: it is not limited.
	BytesPerSecond int
	// IdleTimeout is how long a command, an attached process or a port may pass no data. 0: that is not limited.
	IdleTimeout time.Duration
	// Clock is for timers.
	Clock clock.WithTicker
	// Registerer registers the metrics. It may be nil.
	Registerer prometheus.Registerer
	// Log gets a line for each stream that ended.
	Log logr.Logger
}

// Server serves the streams of sessions, and keeps the status of the sessions in their projects.
type Server struct {
	options Options
	places  places
	// watched are the same for the checks of running streams, which share answers.
	watched places
	// hub is the address of the hub.
	hub *url.URL
	// proxy sends a stream to its place.
	proxy http.Handler
	// unproved bounds requests whose grants are looked up, and attempts bounds requests of clients without the key. rates
	// and turns bound the requests of each session and project.
	unproved chan struct{}
	attempts *listeners.Attempts
	rates    *rates
	turns    turns
	// tasks are the work for sessions, and lanes do it.
	tasks   *tasks
	lanes   fair.Lanes[types.UID, types.UID]
	metrics *serverMetrics
	// running are streams, and states that their projects do not show yet.
	running sync.WaitGroup

	mu sync.Mutex
	// open are the cancellations of the streams of this replica.
	open map[*stream]context.CancelCauseFunc
	// ended selects the streams that this replica carries no more; nil: none.
	ended func(*stream) bool
	// drained is closed when the last stream has ended, while this replica waits for that.
	drained chan struct{}
}

// New returns a Server. It sends no request.
func New(o Options) (*Server, error) {
	s := &Server{
		options: o, places: places{hub: o.Grants.Hub, projects: o.Projects},
		unproved: make(chan struct{}, lookups), attempts: listeners.NewAttempts(o.Clock),
		rates: newRates(), turns: turns{byUID: map[types.UID]*turn{}},
		tasks: newTasks(), open: map[*stream]context.CancelCauseFunc{},
	}
	s.lanes.Attend = s.attend
	s.watched = s.places.shared(newAnswers(o.Clock))
	var err error
	if s.hub, err = parseHub(o.Hub); err != nil {
		return nil, err
	}
	s.proxy = s.newProxy()
	s.metrics = newMetrics(o.Registerer)
	return s, nil
}

// Run serves sessions until ctx ends. Then no more are accepted, running ones continue for the delay, and end.
func (s *Server) Run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.Address)
	if err != nil {
		return fmt.Errorf("serve sessions, see --session-bind-address and --session-port: %w", err)
	}
	return s.Serve(ctx, listener)
}

// Serve is Run on a listener, which it closes.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	// A connection that is no stream is closed after its answer.
	server := listeners.NewServer(s.handler(), listeners.Timeouts{Header: headerTimeout})
	server.TLSConfig = &tls.Config{
		MinVersion: tls.VersionTLS13, GetCertificate: s.options.Certificate,
		// Streams are upgraded connections, which HTTP/2 does not have. A certificate is compared with the session, and not
		// signed by a CA.
		NextProtos: []string{"http/1.1"}, ClientAuth: tls.RequestClientCert,
	}
	bounded := listeners.Bound(listener, s.bounds())
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(bounded, "", "") }()
	// The states of streams that end with the replica are still shown.
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var keeper sync.WaitGroup
	keeper.Go(func() { s.keep(keeping) })
	select {
	case err := <-failed:
		stop()
		keeper.Wait()
		return fmt.Errorf("serve sessions: %w", err)
	case <-ctx.Done():
	}
	s.drain(server)
	s.hurry()
	s.running.Wait()
	stop()
	keeper.Wait()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve sessions: %w", err)
	}
	return nil
}

// bounds returns the bounds of the port for streams. Clients without the key of a session leave room for those with
// one.
func (s *Server) bounds() listeners.Bounds {
	return listeners.Bounds{Unproved: 500, PerSource: 100, Proved: s.options.Grants.Limits.Streams + otherConnections, First: headerTimeout}
}

// drain accepts nothing more. Logs that are followed end at once: their clients continue at another replica. Other
// streams get the delay to end by themselves.
func (s *Server) drain(server *http.Server) {
	bounded, cancel := context.WithTimeout(context.Background(), s.options.Delay)
	defer cancel()
	drained := make(chan struct{})
	s.mu.Lock()
	s.drained = drained
	s.signalDrained()
	s.mu.Unlock()
	// Closing the listener comes first: a client that continues must not return to this replica. It waits for streams
	// that are not upgraded.
	closed := make(chan struct{})
	server.RegisterOnShutdown(func() { close(closed) })
	var stopping sync.WaitGroup
	stopping.Go(func() { _ = server.Shutdown(bounded) })
	<-closed
	s.end((*stream).silent)
	select {
	case <-drained:
	case <-bounded.Done():
	}
	s.end(func(*stream) bool { return true })
	stopping.Wait()
	_ = server.Close() // Serve reports it
}

// end ends the streams of this replica that are selected, and accepts no more of them: their lookup may end later.
func (s *Server) end(selected func(*stream) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = selected
	for c, end := range s.open {
		if selected(c) {
			end(&ending{reason: v1alpha.ReasonSessionReplicaStopped, message: "the replica that carried the stream was stopped"})
		}
	}
}

// signalDrained wakes drain when no stream is open any more. The caller holds the lock.
func (s *Server) signalDrained() {
	if s.drained != nil && len(s.open) == 0 {
		close(s.drained)
		s.drained = nil
	}
}

// handler serves GET requests for sessions.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+PathPrefix+"{project}/{namespace}/{name}/{uid}", s.admit)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux has answers of its own to other methods, and to paths that are not clean. No request has a body: its client
		// could send it at any speed.
		if r.Method != http.MethodGet || r.ContentLength != 0 || r.RequestURI == "*" || path.Clean(r.URL.Path) != r.URL.Path {
			refuse(w)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	http.Error(w, refusal, http.StatusNotFound)
}
