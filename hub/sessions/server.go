// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"path"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/decode"
)

const (
	// headerTimeout and headerBytes bound the headers of a request.
	headerTimeout = 10 * time.Second
	headerBytes   = 16 << 10
	// lookups is how many requests are looked up at the same time, of clients that have proved nothing yet. Others wait.
	lookups = 64
	// lookupTimeout bounds the lookup of a session, and the wait for it.
	lookupTimeout = 10 * time.Second
	// watchInterval is the interval between reviews of a stream. Allowed reviews may be 5 s old: a withdrawn permission
	// ends a stream within 10 s.
	watchInterval = 3 * time.Second
)

// User is the user as which the streams are requested from the hub, and as which Karmada's proxy requests them in cells.
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
	// unproved and streams bound requests that are looked up, and streams.
	unproved, streams chan struct{}
	// announced are new grants.
	announced chan *Grant
	metrics   *serverMetrics
	// running are streams and writes of their ends.
	running sync.WaitGroup

	mu sync.Mutex
	// open are the cancellations of the streams of this replica.
	open map[*stream]context.CancelCauseFunc
	// drained is closed when the last stream has ended, while this replica waits for that.
	drained chan struct{}
}

// New returns a Server. It sends no request.
func New(o Options) (*Server, error) {
	s := &Server{
		options: o, places: places{hub: o.Grants.Hub, projects: o.Projects},
		unproved: make(chan struct{}, lookups), streams: make(chan struct{}, o.Grants.Limits.Streams),
		announced: make(chan *Grant, announcements), open: map[*stream]context.CancelCauseFunc{},
	}
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
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: headerBytes,
		// The lines of net/http are about clients on the Internet.
		ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS13, GetCertificate: s.options.Certificate,
			// Streams are upgraded connections, which HTTP/2 does not have. A certificate is compared with the session,
			// and not signed by a CA.
			NextProtos: []string{"http/1.1"}, ClientAuth: tls.RequestClientCert,
		},
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(listener, "", "") }()
	keeping, stop := context.WithCancel(ctx)
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
	s.running.Wait()
	stop()
	keeper.Wait()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve sessions: %w", err)
	}
	return nil
}

// drain accepts nothing more. Logs that are followed end at once: their clients continue at another replica. Other streams get the delay
// to end by themselves.
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

// end ends the streams of this replica that are selected.
func (s *Server) end(selected func(*stream) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
		// The mux has answers of its own to other methods, and to paths that are not clean.
		if r.Method != http.MethodGet || r.RequestURI == "*" || path.Clean(r.URL.Path) != r.URL.Path {
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

// admit serves one request.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) {
	grant, at, err := s.look(r)
	var ended *ending
	switch {
	case errors.Is(err, errUnknown) || errors.Is(err, errUsed):
		s.metrics.refused.Inc()
		refuse(w)
	case errors.Is(err, errBusy):
		busy(w, "this replica looks up as many sessions as it may, try again")
	case errors.As(err, &ended):
		s.running.Go(func() { s.finish(grant, ended) })
		http.Error(w, ended.message, http.StatusGone)
	case err != nil:
		// Only a client with the key gets this far.
		s.options.Log.Error(err, "A session could not be looked up", "session", grant.Name, "project", grant.Project)
		http.Error(w, "the session could not be looked up, try again: "+err.Error(), http.StatusServiceUnavailable)
	default:
		s.carry(w, r, grant, at)
	}
}

// errBusy reports that a request was not looked up.
var errBusy = errors.New("too many requests are looked up")

// look returns the grant that a request is for and the place of its Instance. A client must not be able to distinguish
// errUnknown from errUsed, and errBusy does not depend on the session. With any other error the client has proved that it has the key.
func (s *Server) look(r *http.Request) (*Grant, place, error) {
	waiting, stop := context.WithTimeout(r.Context(), lookupTimeout)
	defer stop()
	select {
	case s.unproved <- struct{}{}:
		defer func() { <-s.unproved }()
	case <-waiting.Done():
		return nil, place{}, errBusy
	}
	ctx, cancel := context.WithTimeout(r.Context(), lookupTimeout)
	defer cancel()
	grant, err := s.prove(ctx, r)
	if err != nil {
		return nil, place{}, err
	}
	if err := review(ctx, s.options.Projects, grant); err != nil {
		return grant, place{}, err
	}
	at, err := s.places.find(ctx, grant)
	return grant, at, err
}

// prove returns the grant of a request whose client has its key. Every error is errUnknown or errUsed.
func (s *Server) prove(ctx context.Context, r *http.Request) (*Grant, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, errUnknown
	}
	grant, err := s.options.Grants.get(ctx, types.UID(r.PathValue("uid")))
	if err != nil {
		if !errors.Is(err, errUnknown) {
			s.options.Log.Error(err, "A session is refused: its grant could not be read")
		}
		return nil, errUnknown
	}
	// The handshake has proved that the client has the private key of the certificate.
	key, err := decode.SessionKey(grant.Spec.PublicKey)
	if err != nil || subtle.ConstantTimeCompare(key, r.TLS.PeerCertificates[0].RawSubjectPublicKeyInfo) != 1 {
		return nil, errUnknown
	}
	named := grant.Project == r.PathValue("project") && grant.Namespace == r.PathValue("namespace") && grant.Name == r.PathValue("name")
	if !named || !s.options.Clock.Now().Before(grant.Expires) {
		return nil, errUnknown
	}
	if grant.used {
		return nil, errUsed
	}
	return grant, nil
}

// review returns an ending if the session is deleted, or its user has lost the permission. With any other error, the
// project gave no answer.
func review(ctx context.Context, projects Projects, grant *Grant) error {
	if err := exists(ctx, projects, grant); err != nil {
		return err
	}
	verb, subresource, ok := grant.Spec.Type.Permission()
	if !ok {
		return errUnknown
	}
	extra := make(map[string]authorizationv1.ExtraValue, len(grant.User.Extra))
	for key, values := range grant.User.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	allowed, err := projects.Review(ctx, grant.Project, grant.ProjectUID, authorizationv1.SubjectAccessReviewSpec{
		User: grant.User.Username, Groups: grant.User.Groups, UID: grant.User.UID, Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: grant.Namespace, Verb: verb, Group: v1alpha.GroupVersion.Group, Resource: "instances", Subresource: subresource,
			Name: grant.Spec.InstanceRef.Name,
		},
	})
	switch {
	case errors.Is(err, ErrProjectGone):
		return gone("project %s does not exist any more", grant.Project)
	case err != nil:
		return fmt.Errorf("review the permission of user %q: %w", grant.User.Username, err)
	case !allowed:
		return &ending{reason: v1alpha.ReasonSessionRevoked, message: fmt.Sprintf("user %q may not %s instances/%s %s any more", grant.User.Username, verb,
			subresource, grant.Spec.InstanceRef.Name)}
	}
	return nil
}
