// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
	"k8s.io/apimachinery/pkg/util/remotecommand"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// stream is one connection of a session.
type stream struct {
	grant *Grant
	at    place
	// port is the port of the Instance that the stream leads to, for type PortForward.
	port  int32
	meter *meter
	// status is the status code of the cell's answer.
	status atomic.Int32
	// failure is why the cell refused the stream.
	failure atomic.Pointer[string]
	// unanswered: the cell did not answer in time.
	unanswered atomic.Bool
	// used: the session was used up for the stream. unsent: the hub was not reached, so that the cell knows nothing of it.
	used, unsent atomic.Bool
}

type streamKey struct{}

// carry carries a stream until it ends by itself, its session ends, or its client leaves.
func (s *Server) carry(w http.ResponseWriter, r *http.Request, grant *Grant, at place) {
	c := &stream{
		grant: grant, at: at,
		meter: newMeter(s.options.Clock, s.options.BytesPerSecond, usedOnce(grant.Spec.Type)),
	}
	if problem := c.accepts(r); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	base := r.Context()
	if grant.Spec.Type == v1alpha.SessionPortForward {
		// It ends when the client sends no more, and then the client may still receive.
		base = context.WithoutCancel(base)
	}
	expiry, release := context.WithDeadlineCause(context.WithValue(base, streamKey{}, c), grant.Expires,
		&ending{reason: v1alpha.ReasonSessionExpired, message: "the time to live of the session is over"})
	defer release()
	ctx, end := context.WithCancelCause(expiry)
	defer end(nil)
	if full := s.register(c, end); full != "" {
		busy(w, full)
		return
	}
	defer s.running.Done()
	if !s.use(w, r, c) {
		s.unregister(c)
		return
	}
	began := s.options.Clock.Now()
	defer func() { s.account(ctx, c, began) }()
	go s.watch(ctx, c, end)
	// A stream waits for no write to a project, neither at its begin nor at its end.
	s.connected(grant)
	if grant.Spec.Type == v1alpha.SessionPortForward {
		s.forward(ctx, w, c)
		return
	}
	s.proxy.ServeHTTP(w, r.WithContext(ctx))
}

func busy(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "5")
	http.Error(w, why, http.StatusServiceUnavailable)
}

// accepts returns why a request is not one for the session; empty if it is.
func (c *stream) accepts(r *http.Request) string {
	switch kind := c.grant.Spec.Type; {
	case kind == v1alpha.SessionPortForward:
		return c.acceptsPort(r)
	case httpstream.IsUpgradeRequest(r) != (kind != v1alpha.SessionLogs):
		return fmt.Sprintf("a session of type %s is no such connection: logs are read with GET, all others are upgraded to WebSocket", kind)
	case kind == v1alpha.SessionLogs:
		return ""
	case !wsstream.IsWebSocketRequest(r):
		return "the connection must be upgraded to WebSocket"
	}
	offered := protocolsOf(r.Header)
	if len(offered) > 0 && !slices.ContainsFunc(offered, func(name string) bool { return slices.Contains(protocols, name) }) {
		return "the connection must have one of the protocols " + strings.Join(protocols, ", ")
	}
	return ""
}

// protocols are the protocols of commands whose messages are bytes: the outcome of a command is read from them.
var protocols = []string{remotecommand.StreamProtocolV5Name, remotecommand.StreamProtocolV4Name}

const protocolHeader = "Sec-Websocket-Protocol"

func protocolsOf(header http.Header) []string {
	var all []string
	for name := range strings.SplitSeq(strings.Join(header.Values(protocolHeader), ","), ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// use uses up the session of a command. It answers a client whose session was used up before.
func (s *Server) use(w http.ResponseWriter, r *http.Request, c *stream) bool {
	if !usedOnce(c.grant.Spec.Type) {
		return true
	}
	switch err := s.options.Grants.use(r.Context(), c.grant); {
	case errors.Is(err, errUsed):
		refuse(w)
		return false
	case err != nil:
		http.Error(w, "the session could not be recorded as used, try again", http.StatusServiceUnavailable)
		return false
	}
	c.used.Store(true)
	return true
}

// release lets a session be used again whose command has not begun: the cell has refused it, or knows nothing of it.
// Without any answer of the cell it may have begun.
func (s *Server) release(c *stream) {
	if !c.used.Load() || c.status.Load() < http.StatusMultipleChoices && !c.unsent.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	if err := s.options.Grants.release(ctx, c.grant); err != nil {
		s.options.Log.Error(err, "The session of a command that has not begun cannot be used again",
			"session", c.grant.Name, "project", c.grant.Project)
	}
}

// register notes a stream of this replica. It returns why there is no room for it; empty if there is.
func (s *Server) register(c *stream, end context.CancelCauseFunc) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil && s.ended(c) {
		return "this replica is being stopped, connect again"
	}
	if full := s.refusal(c); full != "" {
		return full
	}
	s.open[c] = end
	s.running.Add(1)
	s.metrics.open.Inc()
	return ""
}

// unregister forgets a stream that has ended.
func (s *Server) unregister(c *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	s.signalDrained()
	s.metrics.open.Dec()
}

// account writes the line, the Event and the status of a stream that has ended. It also runs when the proxy panics to
// abort a connection.
func (s *Server) account(ctx context.Context, c *stream, began time.Time) {
	s.unregister(c)
	s.release(c)
	end := c.end(ctx)
	spec, sent, received := &c.grant.Spec, c.meter.sent.Load(), c.meter.received.Load()
	s.metrics.ended.WithLabelValues(string(spec.Type), end.reason).Inc()
	s.metrics.bytes.WithLabelValues(toClient).Add(float64(sent))
	s.metrics.bytes.WithLabelValues(fromClient).Add(float64(received))
	took := s.options.Clock.Since(began).Round(time.Millisecond)
	s.options.Log.Info("Session ended", "project", c.grant.Project, "namespace", c.grant.Namespace, "session",
		c.grant.Name, "uid", c.grant.UID,
		"user", c.grant.User.Username, "instance", spec.InstanceRef.Name, "container", spec.ContainerName, "type", spec.Type, "port", c.port,
		"cell", c.at.cell, "reason", end.reason, "status", c.status.Load(), "duration", took.String(), "bytesToClient", sent,
		"bytesFromClient", received)
	s.finish(c.grant, end, traceOf(c, s.options.Clock.Now(), fmt.Sprintf("after %s: %d bytes to the user, %d bytes from the user (%s)",
		took, sent, received, end.reason)))
}

// end returns the lasting end of a stream.
func (c *stream) end(ctx context.Context) *ending {
	if because, ok := errors.AsType[*ending](context.Cause(ctx)); ok {
		return because
	}
	if c.unanswered.Load() {
		return unanswered(c.at.cell)
	}
	if why := c.failure.Load(); why != nil {
		return &ending{reason: v1alpha.ReasonSessionFailed, message: *why}
	}
	if c.meter.broken.Load() {
		return &ending{
			reason: v1alpha.ReasonSessionUnreachable, message: fmt.Sprintf("the connection to the cell of the Instance, %s, was lost", c.at.cell),
		}
	}
	end := &ending{reason: v1alpha.ReasonSessionCompleted, message: "the stream has ended"}
	if c.grant.Spec.Type != v1alpha.SessionExec || c.meter.fromCell == nil {
		return end
	}
	code, failure := outcomeOf(c.meter.fromCell.outcome)
	switch {
	case failure != "":
		return &ending{reason: v1alpha.ReasonSessionFailed, message: "the command could not be run: " + failure}
	case code != nil:
		end.exitCode, end.message = code, fmt.Sprintf("the command ended with exit code %d", *code)
	default:
		end.message = "the client left before the command ended"
	}
	return end
}

// watch ends a stream if its user has lost the permission, its Instance has moved, or it is idle. While a project or
// the hub gives no answer, the stream continues.
func (s *Server) watch(ctx context.Context, c *stream, end context.CancelCauseFunc) {
	began := s.options.Clock.Now()
	ticker := s.options.Clock.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		ended := s.check(ctx, c)
		switch {
		case ended != nil:
		case c.status.Load() == 0 && !c.silent() && s.options.Clock.Since(began) >= answerWithin:
			ended = unanswered(c.at.cell)
		case s.options.IdleTimeout > 0 && !c.silent() && c.meter.idle() >= s.options.IdleTimeout:
			ended = &ending{reason: v1alpha.ReasonSessionIdle, message: fmt.Sprintf("no data has passed for %s", s.options.IdleTimeout)}
		}
		if ended != nil {
			end(ended)
			return
		}
	}
}

func unanswered(cell string) *ending {
	return &ending{reason: v1alpha.ReasonSessionUnreachable, message: fmt.Sprintf("the cell of the Instance, %s, does not answer", cell)}
}

// silent reports whether a cell answers only when the container writes something.
func (c *stream) silent() bool { return c.grant.Spec.Logs != nil && c.grant.Spec.Logs.Follow }

// check returns why a stream must end, or nil.
func (s *Server) check(ctx context.Context, c *stream) *ending {
	ctx, cancel := context.WithTimeout(ctx, watchInterval)
	defer cancel()
	var ended *ending
	if err := review(ctx, s.watched.projects, c.grant); errors.As(err, &ended) {
		return ended
	}
	at, err := s.watched.find(ctx, c.grant)
	if errors.Is(err, ErrProjectGone) {
		// Milo may have lost it by mistake. A project that ownership proves gone leaves the hub, and then no stream leads
		// there.
		at, err = s.watched.onHub(ctx, c.grant, c.at.namespace)
	}
	if errors.As(err, &ended) && ended.reason == v1alpha.ReasonSessionInstanceGone {
		return ended
	}
	if err == nil && !at.isAt(c.at) {
		return &ending{
			reason: v1alpha.ReasonSessionInstanceGone, message: fmt.Sprintf("Instance %s has moved to another cell", c.grant.Spec.InstanceRef.Name),
		}
	}
	return nil
}

// answerWithin is how long a cell may take to answer.
const answerWithin = 12 * time.Second

// passed are the headers of a client that are passed to the cell: the headers of the upgrade, and none that names a
// user.
var passed = []string{"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version"}

// passedBack are the headers of a cell that a client gets: for the upgrade, and the form of the body.
var passedBack = []string{
	"Connection", "Upgrade", "Sec-Websocket-Accept", protocolHeader, "Content-Type", "Content-Length", "Transfer-Encoding",
}
