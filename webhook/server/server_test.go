// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// TestCallers: authentication and authorization of callers.
func TestCallers(t *testing.T) {
	r := start(t, nil)
	strangers := newPKI(t)
	cases := map[string]struct {
		cert  *tls.Certificate
		token string
		path  string
		want  int
	}{
		"a certificate in the group":               {cert: r.pki.issue(t, "apiserver", "callers"), path: "/closed", want: 200},
		"a certificate with a role":                {cert: r.pki.issue(t, "ann"), path: "/open", want: 200},
		"a certificate without one":                {cert: r.pki.issue(t, "ann"), path: "/closed", want: 403},
		"a certificate of another CA":              {cert: strangers.issue(t, "apiserver", "callers"), path: "/closed", want: 401},
		"a token with a role":                      {token: "good", path: "/open", want: 200},
		"a token without one":                      {token: "good", path: "/closed", want: 403},
		"an unknown token":                         {token: "bad", path: "/open", want: 401},
		"nobody":                                   {path: "/open", want: 401},
		"who knows the path":                       {path: "/closed/second-secret?timeout=5s", want: 200},
		"a path of another webhook":                {path: "/open/second-secret", want: 404},
		"no secret":                                {path: "/open/", want: 404},
		"more than a secret":                       {path: "/open/first-secret/more", want: 404},
		"a certificate without role, and the path": {cert: r.pki.issue(t, "ann"), path: "/closed/second-secret", want: 200},
		"nothing is served there":                  {cert: r.pki.issue(t, "apiserver", "callers"), path: "/other", want: 404},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			if c.token != "" {
				header.Set("Authorization", "Bearer "+c.token)
			}
			status, answer, _, err := r.post(r.client(t, c.cert), c.path, []byte("hello"), header)
			if err != nil {
				t.Fatal(err)
			}
			if status != c.want || status == 200 && answer != "hello" {
				t.Errorf("answer is %d, %q, want %d", status, answer, c.want)
			}
			if c.token != "" && strings.Contains(answer, c.token) {
				t.Errorf("the answer %q holds the token", answer)
			}
		})
	}
	refused := r.server.metrics.requests.WithLabelValues("open", "unauthorized")
	if got := testutil.ToFloat64(refused); got != 3 {
		t.Errorf("%v callers of /open were refused", got)
	}
}

func TestOnlyTLS13(t *testing.T) {
	r := start(t, nil)
	client := r.client(t, r.pki.issue(t, "apiserver", "callers"))
	client.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS12
	if _, _, _, err := r.post(client, "/open", nil, nil); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.2: %v", err)
	}
}

// TestRequestsAreBounded: in size and in time, and a panic ends only its request.
func TestRequestsAreBounded(t *testing.T) {
	r := start(t, func(s *Server) {
		s.Webhooks = append(s.Webhooks,
			Webhook{Name: "panics", Path: "/panics", Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") })},
			Webhook{Name: "hangs", Path: "/hangs", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if deadline, ok := r.Context().Deadline(); !ok || time.Until(deadline) > 500*time.Millisecond {
					t.Errorf("a request with a timeout of 1 s has the deadline %s", deadline)
				}
				<-r.Context().Done()
				http.Error(w, "it took too long", http.StatusGatewayTimeout)
			})},
		)
	})
	client := r.client(t, r.pki.issue(t, "apiserver", "callers"))
	if status, _, _, err := r.post(client, "/open", bytes.Repeat([]byte("x"), maxBody+1), nil); err != nil ||
		status != http.StatusRequestEntityTooLarge {
		t.Errorf("too much: %d, %v", status, err)
	}
	if status, _, _, err := r.post(client, "/hangs?timeout=1s", nil, nil); err != nil || status != http.StatusGatewayTimeout {
		t.Errorf("too long: %d, %v", status, err)
	}
	if status, answer, _, err := r.post(client, "/panics", nil, nil); err != nil ||
		status != http.StatusInternalServerError || strings.Contains(answer, "oh") {
		t.Errorf("panic: %d, %q, %v", status, answer, err)
	}
	for webhook, ended := range map[string]outcome{"open": denied, "hangs": failedElsewhere, "panics": failed} {
		if got := testutil.ToFloat64(r.server.metrics.requests.WithLabelValues(webhook, string(ended))); got != 1 {
			t.Errorf("%s: %v requests counted as %s", webhook, got, ended)
		}
	}
}

// TestTimeout: a request without a valid timeout gets the longest one.
func TestTimeout(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"":              maxTimeout,
		"timeout=10s":   9500 * time.Millisecond,
		"timeout=600ms": 300 * time.Millisecond,
		"timeout=9h":    maxTimeout,
		"timeout=-1s":   maxTimeout,
		"timeout=ten":   maxTimeout,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/?"+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got := timeoutOf(request); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// heldClock holds the shutdown delay until it is closed.
type heldClock struct {
	clock.RealClock
	delay chan time.Time
}

func (c heldClock) After(time.Duration) <-chan time.Time { return c.delay }

// TestDrain: clients with keep-alive connections that do not retry lose no request when the replica shuts down, because
// their connections are closed after an answer before it ends.
func TestDrain(t *testing.T) {
	held := heldClock{delay: make(chan time.Time)}
	r := start(t, func(s *Server) { s.Clock = held })
	cert := r.pki.issue(t, "apiserver", "callers")
	const clients = 20
	var answered, told atomic.Int64
	var callers sync.WaitGroup
	failures := make(chan error, clients)
	for range clients {
		client := r.client(t, cert)
		callers.Go(func() {
			for {
				status, _, closing, err := r.post(client, "/open", []byte("hello"), nil)
				if err != nil || status != http.StatusOK {
					failures <- errors.Join(err, errors.New(http.StatusText(status)))
					return
				}
				answered.Add(1)
				if closing {
					told.Add(1)
					return // to another replica
				}
			}
		})
	}
	r.eventually(t, func() error {
		if answered.Load() < 10*clients {
			return errors.New("too few requests were answered")
		}
		return nil
	})
	r.stop()
	callers.Wait()
	close(failures)
	for err := range failures {
		t.Errorf("a request failed: %v", err)
	}
	if told.Load() != clients {
		t.Errorf("%d of %d connections were closed after an answer", told.Load(), clients)
	}
	close(held.delay)
	r.finish(t)
}

// TestNotReadyAtOnce: when the shutdown begins the replica is unready at once and controllers stop, and requests are
// still served.
func TestNotReadyAtOnce(t *testing.T) {
	stopped := make(chan struct{})
	held := heldClock{delay: make(chan time.Time)}
	r := start(t, func(s *Server) {
		s.Clock = held
		s.Controllers = func(ctx context.Context) error {
			<-ctx.Done()
			close(stopped)
			return ctx.Err()
		}
	})
	t.Cleanup(func() { close(held.delay) })
	r.stop()
	<-stopped
	r.eventually(t, func() error {
		if err := r.ready(); err == nil || !strings.Contains(err.Error(), errDraining.Error()) {
			return errors.Join(errors.New("still ready"), err)
		}
		return nil
	})
	status, _, closing, err := r.post(r.client(t, r.pki.issue(t, "apiserver", "callers")), "/open", nil, nil)
	if err != nil || status != http.StatusOK || !closing {
		t.Errorf("while shutting down: %d, closing %t, %v", status, closing, err)
	}
}

// TestControllersThatFail: webhooks are drained, and the error is returned.
func TestControllersThatFail(t *testing.T) {
	problem := errors.New("the hub is gone")
	fail := make(chan struct{})
	r := start(t, func(s *Server) {
		s.Controllers = func(context.Context) error {
			<-fail
			return problem
		}
	})
	close(fail)
	if err := <-r.ended; !errors.Is(err, problem) {
		t.Errorf("ended with %v", err)
	}
	r.ended <- nil
}

// TestNoWebhooks: no listener, and ready.
func TestNoWebhooks(t *testing.T) {
	r := start(t, func(s *Server) {
		s.Webhooks = nil
		s.Controllers = func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		}
	})
	r.eventually(t, r.ready)
	if _, _, _, err := r.post(r.client(t, nil), "/open", nil, nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the port is open: %v", err)
	}
}

// hastyClock has tickers that are a hundred times as fast.
type hastyClock struct{ clock.RealClock }

func (c hastyClock) NewTicker(d time.Duration) clock.Ticker { return c.RealClock.NewTicker(d / 100) }

// reviewing is a server whose only webhook answers reviews with an error of a given code.
type reviewing struct {
	*running
	client *http.Client
	code   atomic.Int32
	// probe is the result of probes.
	probe atomic.Pointer[error]
}

func startReviewing(t *testing.T) *reviewing {
	t.Helper()
	r := &reviewing{}
	r.probe.Store(new(error))
	b := &Builder[int]{}
	b.RegisterAdmission("reviews", "/open", admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Errored(r.code.Load(), errors.New("no review"))
	}))
	b.AddFlags(pflag.NewFlagSet("test", pflag.ContinueOnError), pflag.NewFlagSet("test", pflag.ContinueOnError))
	r.running = start(t, func(s *Server) {
		s.Webhooks, s.Clock = b.Webhooks(), hastyClock{}
		s.Probe = func(context.Context) error { return *r.probe.Load() }
	})
	r.client = r.running.client(t, r.pki.issue(t, "apiserver", "callers"))
	return r
}

// ask sends reviews that are answered with a code, and returns whether the last answer closed its connection.
func (r *reviewing) ask(t *testing.T, times int, code int32) (closed bool) {
	t.Helper()
	r.code.Store(code)
	review := []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}}`)
	for range times {
		status, answer, closing, err := r.post(r.client, "/open", review, http.Header{"Content-Type": {"application/json"}})
		if err != nil || status != http.StatusOK || !strings.Contains(answer, "no review") {
			t.Fatalf("answer is %d, %q, %v", status, answer, err)
		}
		closed = closing
	}
	return closed
}

func (r *reviewing) counted(ended outcome) float64 {
	return testutil.ToFloat64(r.server.metrics.requests.WithLabelValues("reviews", string(ended)))
}

// TestReviewsThatFail: the HTTP status of a review is always 200. After denials the replica is ready, after errors of
// its own it is not, until probes find no fault.
func TestReviewsThatFail(t *testing.T) {
	r := startReviewing(t)
	r.ask(t, windowLeast, http.StatusForbidden)
	if err := r.ready(); err != nil {
		t.Errorf("refusals: %v", err)
	}
	r.probe.Store(new(error(errOwn)))
	r.ask(t, windowLeast+1, http.StatusInternalServerError)
	if err := r.ready(); err == nil {
		t.Error("reviews fail and the replica is ready")
	}
	if got := testutil.ToFloat64(r.server.metrics.ready); got != 0 {
		t.Errorf("the gauge says %v", got)
	}
	if closed := r.ask(t, 1, http.StatusInternalServerError); !closed {
		t.Error("no connection was closed")
	}
	if got := r.counted(failed); got != windowLeast+2 {
		t.Errorf("%v errors were counted", got)
	}
	r.probe.Store(new(error))
	r.eventually(t, r.ready)
}

// TestOutageOfMilo: when Milo does not answer, all reviews are answered, no connection is closed, the replica stays
// ready, and the gauge is 0.
func TestOutageOfMilo(t *testing.T) {
	r := startReviewing(t)
	reachable := func(want float64) func() error {
		return func() error {
			if got := testutil.ToFloat64(r.server.metrics.reachable); got != want {
				return fmt.Errorf("the gauge is %v", got)
			}
			return nil
		}
	}
	r.eventually(t, reachable(1))
	r.probe.Store(new(error(errOutage)))
	if closed := r.ask(t, 2*windowSize, http.StatusServiceUnavailable); closed {
		t.Error("a connection was closed")
	}
	r.eventually(t, reachable(0))
	if err := r.ready(); err != nil || r.counted(unavailable) != 2*windowSize || r.counted(failed) != 0 {
		t.Errorf("readiness is %v, %v outages and %v errors were counted", err, r.counted(unavailable), r.counted(failed))
	}
	r.probe.Store(new(error))
	r.eventually(t, reachable(1))
}
