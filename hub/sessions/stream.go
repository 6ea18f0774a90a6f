// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// stream is one connection of a session.
type stream struct {
	grant *Grant
	at    place
	// received and sent are bytes of the client.
	received, sent atomic.Int64
	// status is that of the cell's answer.
	status atomic.Int32
	// noted is closed when the project shows that a client is connected, or cannot.
	noted chan struct{}
}

type streamKey struct{}

// carry carries a stream until it ends by itself, its session ends, or its client leaves.
func (s *Server) carry(w http.ResponseWriter, r *http.Request, grant *Grant, at place) {
	upgrade := httpstream.IsUpgradeRequest(r)
	if upgrade != (grant.Spec.Type != v1alpha.SessionLogs) {
		http.Error(w, fmt.Sprintf("a session of type %s is no such connection: logs are read with GET, all others are upgraded to WebSocket",
			grant.Spec.Type), http.StatusBadRequest)
		return
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "this replica carries as many streams as it may, try again", http.StatusServiceUnavailable)
		return
	}
	if grant.Spec.Type != v1alpha.SessionLogs {
		if err := s.options.Grants.use(r.Context(), grant); errors.Is(err, errUsed) {
			refuse(w)
			return
		} else if err != nil {
			http.Error(w, "the session could not be recorded as used, try again", http.StatusServiceUnavailable)
			return
		}
	}
	c := &stream{grant: grant, at: at, noted: make(chan struct{})}
	expiry, release := context.WithDeadlineCause(context.WithValue(r.Context(), streamKey{}, c), grant.Expires,
		&ending{v1alpha.ReasonSessionExpired, "the time to live of the session is over"})
	defer release()
	ctx, end := context.WithCancelCause(expiry)
	defer end(nil)
	s.running.Add(1)
	defer s.running.Done()
	s.register(c, end)
	began := s.options.Clock.Now()
	defer func() { s.account(ctx, c, began) }()
	go s.watch(ctx, c, end)
	// A stream waits for no write to a project, neither at its begin nor at its end.
	s.running.Go(func() {
		defer close(c.noted)
		s.connected(grant)
	})
	s.proxy.ServeHTTP(w, r.WithContext(ctx))
}

func (s *Server) register(c *stream, end context.CancelCauseFunc) {
	s.metrics.open.Inc()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = end
}

// account writes the line and the status of a stream that has ended. It also runs when the proxy panics to abort a connection.
func (s *Server) account(ctx context.Context, c *stream, began time.Time) {
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
	s.metrics.open.Dec()
	ended := &ending{v1alpha.ReasonSessionCompleted, "the stream has ended"}
	if because, ok := errors.AsType[*ending](context.Cause(ctx)); ok {
		ended = because
	}
	spec := &c.grant.Spec
	s.metrics.ended.WithLabelValues(string(spec.Type), ended.reason).Inc()
	s.options.Log.Info("Session ended", "project", c.grant.Project, "namespace", c.grant.Namespace, "session", c.grant.Name, "uid", c.grant.UID,
		"user", c.grant.User.Username, "instance", spec.InstanceRef.Name, "container", spec.ContainerName, "type", spec.Type, "cell", c.at.cell,
		"reason", ended.reason, "status", c.status.Load(), "duration", s.options.Clock.Since(began).String(),
		"bytesToClient", c.sent.Load(), "bytesFromClient", c.received.Load())
	s.running.Go(func() {
		<-c.noted
		s.finish(c.grant, ended)
	})
}

// watch ends a stream when its user may not have it any more, or its Instance has moved. While a project or the hub gives no answer, the
// stream continues.
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
		if ended == nil && c.status.Load() == 0 && !c.silent() && s.options.Clock.Since(began) >= answerWithin {
			ended = &ending{v1alpha.ReasonSessionUnreachable, fmt.Sprintf("the cell of the Instance, %s, does not answer", c.at.cell)}
		}
		if ended != nil {
			end(ended)
			return
		}
	}
}

// silent reports whether a cell answers only when the container writes something.
func (c *stream) silent() bool { return c.grant.Spec.Logs != nil && c.grant.Spec.Logs.Follow }

// check returns why a stream must end, or nil.
func (s *Server) check(ctx context.Context, c *stream) *ending {
	ctx, cancel := context.WithTimeout(ctx, watchInterval)
	defer cancel()
	var ended *ending
	if err := s.review(ctx, c.grant); errors.As(err, &ended) {
		return ended
	}
	at, err := s.places.find(ctx, c.grant)
	if errors.As(err, &ended) && ended.reason == v1alpha.ReasonSessionInstanceGone {
		return ended
	}
	if err == nil && at != c.at {
		return &ending{v1alpha.ReasonSessionInstanceGone, fmt.Sprintf("Instance %s has moved to another cell", c.grant.Spec.InstanceRef.Name)}
	}
	return nil
}

// answerWithin is how long a cell may take to answer.
const answerWithin = 12 * time.Second

// passed are the headers of a client that the cell gets: those of the upgrade, and nothing that names a user.
var passed = []string{
	"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol",
}

// newProxy makes the proxy to cells. It copies bytes and keeps none.
func (s *Server) newProxy() (http.Handler, error) {
	hub, err := url.Parse(s.options.Hub)
	if err != nil || hub.Host == "" {
		return nil, fmt.Errorf("the address of the hub is %q: it must be a URL", s.options.Hub)
	}
	// Without it the paths that are joined are relative.
	hub.Path = "/" + strings.TrimPrefix(hub.Path, "/")
	return &httputil.ReverseProxy{
		Transport: s.options.Cells,
		// What a container writes is sent at once.
		FlushInterval: -1,
		// It would write of every stream that is cut off.
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			c := carried(p.Out.Context())
			to := target(c.at, &c.grant.Spec)
			p.Out.URL = hub.JoinPath(to.Path)
			p.Out.URL.RawQuery, p.Out.Host = to.RawQuery, ""
			p.Out.Body, p.Out.ContentLength = http.NoBody, 0
			kept := http.Header{}
			for _, name := range passed {
				if values := p.Out.Header.Values(name); len(values) > 0 {
					kept[name] = values
				}
			}
			p.Out.Header = kept
		},
		ModifyResponse: func(response *http.Response) error {
			c := carried(response.Request.Context())
			c.status.Store(int32(response.StatusCode)) //nolint:gosec // a status has three digits
			response.Body = count(response.Body, c)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, _ error) {
			http.Error(w, fmt.Sprintf("the cell of the Instance, %s, does not answer through the hub", carried(r.Context()).at.cell), http.StatusBadGateway)
		},
	}, nil
}

func carried(ctx context.Context) *stream {
	c, _ := ctx.Value(streamKey{}).(*stream)
	return c
}

// counted counts the bytes of a stream.
type counted struct {
	io.ReadCloser
	c *stream
}

// Read counts what goes to the client.
func (b *counted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.c.sent.Add(int64(n))
	return n, err
}

// countedBoth is counted for an upgraded connection.
type countedBoth struct {
	counted
	io.Writer
}

// Write counts what comes from the client.
func (b *countedBoth) Write(p []byte) (int, error) {
	n, err := b.Writer.Write(p)
	b.c.received.Add(int64(n))
	return n, err
}

func count(body io.ReadCloser, c *stream) io.ReadCloser {
	if both, ok := body.(io.ReadWriteCloser); ok {
		return &countedBoth{counted{body, c}, both}
	}
	return &counted{body, c}
}
