// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
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
	s.running.Add(1)
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
	if len(offered) > 0 && !slices.ContainsFunc(offered, func(one string) bool { return slices.Contains(protocols, one) }) {
		return "the connection must have one of the protocols " + strings.Join(protocols, ", ")
	}
	return ""
}

// protocols are the protocols of commands whose messages are bytes: the outcome of a command is read from them.
var protocols = []string{remotecommand.StreamProtocolV5Name, remotecommand.StreamProtocolV4Name}

const protocolHeader = "Sec-Websocket-Protocol"

func protocolsOf(header http.Header) []string {
	var all []string
	for one := range strings.SplitSeq(strings.Join(header.Values(protocolHeader), ","), ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
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
	if full := s.room(c); full != "" {
		return full
	}
	s.open[c] = end
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
	s.finish(c.grant, end, fmt.Sprintf("user %q ended a session of type %s after %s: %d bytes to the user, %d bytes from the user (%s)",
		c.grant.User.Username, spec.Type, took, sent, received, end.reason))
}

// end returns the lasting end of a stream.
func (c *stream) end(ctx context.Context) *ending {
	if because, ok := errors.AsType[*ending](context.Cause(ctx)); ok {
		return because
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

// parseHub parses the address of the hub.
func parseHub(address string) (*url.URL, error) {
	hub, err := url.Parse(address)
	if err != nil || hub.Host == "" {
		return nil, fmt.Errorf("the address of the hub is %q: it must be a URL", address)
	}
	// Without it the paths that are joined are relative.
	hub.Path = "/" + strings.TrimPrefix(hub.Path, "/")
	return hub, nil
}

// newProxy makes the proxy to cells. It copies bytes and keeps none.
func (s *Server) newProxy() http.Handler {
	return &httputil.ReverseProxy{
		Transport: s.options.Cells,
		// Output of a container is sent at once.
		FlushInterval: -1,
		// It would write of every stream that is cut off.
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			c := carried(p.Out.Context())
			p.Out.URL = c.onHub(s.hub)
			p.Out.Host, p.Out.Body, p.Out.ContentLength = "", http.NoBody, 0
			p.Out.Header = headersToCell(p.Out.Header)
		},
		ModifyResponse: func(response *http.Response) error {
			c := carried(response.Request.Context())
			c.status.Store(int32(response.StatusCode)) //nolint:gosec // a status has three digits
			if response.StatusCode >= http.StatusMultipleChoices {
				s.explain(response, c)
			}
			response.Header = headersToClient(response.Header)
			response.Body = metering(response.Request.Context(), response.Body, c.meter)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			c := carried(r.Context())
			unsent := &net.OpError{}
			c.unsent.Store(errors.As(err, &unsent) && unsent.Op == "dial")
			c.failure.Store(new(fmt.Sprintf("cell %s does not answer through the hub", c.at.cell)))
			http.Error(w, fmt.Sprintf("the cell of the Instance, %s, does not answer through the hub", c.at.cell), http.StatusBadGateway)
		},
	}
}

// explain keeps why a cell refuses a stream. A refusal of the credential of sessions is for the operator: its text
// names users and roles of the hub and the cell.
func (s *Server) explain(response *http.Response, c *stream) {
	why := fmt.Sprintf("cell %s refused the stream with status %d", c.at.cell, response.StatusCode)
	switch {
	case response.StatusCode < http.StatusBadRequest:
		// A client that follows it would send its request, and show its log, to whom the cell wants.
		why = fmt.Sprintf("cell %s answered with a redirect, which is not followed", c.at.cell)
		response.StatusCode, response.Status = http.StatusBadGateway, ""
		_ = response.Body.Close()
		replace(response, why)
	case response.StatusCode == http.StatusForbidden || response.StatusCode == http.StatusUnauthorized:
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxOutcome)) // a part of it helps, too
		_ = response.Body.Close()
		s.options.Log.Error(nil, "A cell refuses the credential of sessions", "cell", c.at.cell, "status",
			response.StatusCode, "answer", string(text))
		why = fmt.Sprintf("cell %s refuses the credential of sessions; an operator can find the reason in the log of the add-on", c.at.cell)
		replace(response, why)
	}
	c.failure.Store(&why)
}

// replace replaces the body of an answer.
func replace(response *http.Response, text string) {
	response.Body, response.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	response.Header = http.Header{"Content-Type": {"text/plain"}}
}

// passedBack are the headers of a cell that a client gets: for the upgrade, and the form of the body.
var passedBack = []string{
	"Connection", "Upgrade", "Sec-Websocket-Accept", protocolHeader, "Content-Type", "Content-Length", "Transfer-Encoding",
}

// headersToClient are those headers of a cell that the client gets.
func headersToClient(header http.Header) http.Header {
	kept := http.Header{}
	for _, name := range passedBack {
		if values := header.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	return kept
}

// onHub returns the URL of a stream at Karmada's proxy.
func (c *stream) onHub(hub *url.URL) *url.URL {
	to := target(c.at, &c.grant.Spec)
	at := hub.JoinPath(to.Path)
	at.RawQuery = to.RawQuery
	return at
}

// headersToCell are those headers of a client that the cell gets.
func headersToCell(header http.Header) http.Header {
	kept := http.Header{}
	for _, name := range passed {
		if values := header.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	offered := slices.DeleteFunc(protocolsOf(header), func(one string) bool { return !slices.Contains(protocols, one) })
	if len(offered) > 0 {
		kept.Set(protocolHeader, strings.Join(offered, ", "))
	}
	return kept
}

func carried(ctx context.Context) *stream {
	c, _ := ctx.Value(streamKey{}).(*stream)
	return c
}
