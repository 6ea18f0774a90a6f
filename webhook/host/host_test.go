// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// TestCallers: who may call what.
func TestCallers(t *testing.T) {
	r := start(t, nil)
	strangers := newPKI(t)
	cases := map[string]struct {
		cert  *tls.Certificate
		token string
		path  string
		want  int
	}{
		"a certificate in the group":          {cert: r.pki.issue(t, "apiserver", "callers"), path: "/closed", want: 200},
		"a certificate with a role":           {cert: r.pki.issue(t, "ann"), path: "/open", want: 200},
		"a certificate without one":           {cert: r.pki.issue(t, "ann"), path: "/closed", want: 403},
		"a certificate of somebody else's CA": {cert: strangers.issue(t, "apiserver", "callers"), path: "/closed", want: 401},
		"a token with a role":                 {token: "good", path: "/open", want: 200},
		"a token without one":                 {token: "good", path: "/closed", want: 403},
		"an unknown token":                    {token: "bad", path: "/open", want: 401},
		"nobody":                              {path: "/open", want: 401},
		"nobody, where anybody may":           {path: "/anybody", want: 200},
		"nothing is served there":             {cert: r.pki.issue(t, "apiserver", "callers"), path: "/other", want: 404},
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
	refused := r.host.metrics.requests.WithLabelValues("open", "unauthorized")
	if got := testutil.ToFloat64(refused); got != 2 {
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

// TestRequestsAreBounded: in size, in time, and in what a panic does.
func TestRequestsAreBounded(t *testing.T) {
	r := start(t, func(h *Host) {
		h.Webhooks = append(h.Webhooks,
			Webhook{Name: "panics", Path: "/panics", Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") })},
			Webhook{Name: "hangs", Path: "/hangs", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				http.Error(w, "it took too long", http.StatusGatewayTimeout)
			})},
		)
	})
	client := r.client(t, r.pki.issue(t, "apiserver", "callers"))
	if status, _, _, err := r.post(client, "/open", bytes.Repeat([]byte("x"), maxBody+1), nil); err != nil || status != http.StatusRequestEntityTooLarge {
		t.Errorf("too much: %d, %v", status, err)
	}
	begin := time.Now()
	if status, _, _, err := r.post(client, "/hangs?timeout=1s", nil, nil); err != nil || status != http.StatusGatewayTimeout {
		t.Errorf("too long: %d, %v", status, err)
	}
	if took := time.Since(begin); took >= time.Second {
		t.Errorf("who waits a second was answered after %s", took)
	}
	if status, answer, _, err := r.post(client, "/panics", nil, nil); err != nil || status != http.StatusInternalServerError || strings.Contains(answer, "oh") {
		t.Errorf("panic: %d, %q, %v", status, answer, err)
	}
	for webhook, ended := range map[string]outcome{"open": denied, "hangs": failedElsewhere, "panics": failed} {
		if got := testutil.ToFloat64(r.host.metrics.requests.WithLabelValues(webhook, string(ended))); got != 1 {
			t.Errorf("%s: %v requests counted as %s", webhook, got, ended)
		}
	}
}

// TestPatience: who does not say how long it waits, or says nonsense, is not waited for for ever.
func TestPatience(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"":              maxPatience,
		"timeout=10s":   9500 * time.Millisecond,
		"timeout=600ms": 300 * time.Millisecond,
		"timeout=9h":    maxPatience,
		"timeout=-1s":   maxPatience,
		"timeout=ten":   maxPatience,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/?"+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got := patienceOf(request); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// TestDrain: clients that keep connections open and do not retry lose nothing when the replica ends, because they are
// told to go before it does.
func TestDrain(t *testing.T) {
	r := start(t, func(h *Host) { h.Options.ShutdownDelay = 300 * time.Millisecond })
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
		t.Errorf("%d of %d clients were told to go", told.Load(), clients)
	}
	r.finish(t)
}

// TestNotReadyAtOnce: readiness is gone as soon as the end is asked for, while requests are still served; controllers
// have stopped by then.
func TestNotReadyAtOnce(t *testing.T) {
	stopped := make(chan struct{})
	r := start(t, func(h *Host) {
		h.Options.ShutdownDelay = 2 * time.Second
		h.Controllers = func(ctx context.Context) error {
			<-ctx.Done()
			close(stopped)
			return ctx.Err()
		}
	})
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

// TestControllersThatFail: webhooks are drained all the same, and the error is told.
func TestControllersThatFail(t *testing.T) {
	problem := errors.New("the hub is gone")
	fail := make(chan struct{})
	r := start(t, func(h *Host) {
		h.Controllers = func(context.Context) error {
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
	r := start(t, func(h *Host) {
		h.Webhooks = nil
		h.Controllers = func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		}
	})
	r.eventually(t, r.ready)
	if _, _, _, err := r.post(r.client(t, nil), "/open", nil, nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the port is open: %v", err)
	}
}

// TestFailuresMakeNotReady: through the whole of the host, and back by itself.
func TestFailuresMakeNotReady(t *testing.T) {
	var reachable atomic.Bool
	reachable.Store(true)
	r := start(t, func(h *Host) {
		h.Probe = func(context.Context) error {
			if !reachable.Load() {
				return errors.New("Milo cannot be reached")
			}
			return nil
		}
		h.Webhooks = []Webhook{{Name: "fails", Path: "/open", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		})}}
	})
	reachable.Store(false)
	client := r.client(t, r.pki.issue(t, "apiserver", "callers"))
	closing := false
	for range windowLeast + 1 {
		var err error
		if _, _, closing, err = r.post(client, "/open", nil, nil); err != nil {
			t.Fatal(err)
		}
		_ = r.ready()
	}
	if err := r.ready(); err == nil || !strings.Contains(err.Error(), "more than half") || !closing {
		t.Errorf("readiness is %v, closing %t", err, closing)
	}
	if got := testutil.ToFloat64(r.host.metrics.ready); got != 0 {
		t.Errorf("the gauge says %v", got)
	}
	reachable.Store(true)
	r.eventually(t, r.ready)
}

// TestReviewsThatFail: a review that fails is answered with 200 and counts as a failure; a refusal does not.
func TestReviewsThatFail(t *testing.T) {
	code := int32(http.StatusServiceUnavailable)
	b := &Builder[int]{}
	b.RegisterAdmission("reviews", "/open", admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Errored(code, errors.New("Milo cannot be reached"))
	}))
	b.AddFlags(pflag.NewFlagSet("test", pflag.ContinueOnError))
	var reachable atomic.Bool
	r := start(t, func(h *Host) {
		h.Webhooks = b.Webhooks()
		h.Probe = func(context.Context) error {
			if reachable.Swap(true) {
				return errors.New("still not")
			}
			return nil
		}
	})
	client := r.client(t, r.pki.issue(t, "apiserver", "callers"))
	review := []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}}`)
	ask := func(times int) {
		t.Helper()
		for range times {
			status, answer, _, err := r.post(client, "/open", review, http.Header{"Content-Type": {"application/json"}})
			if err != nil || status != http.StatusOK || !strings.Contains(answer, "cannot be reached") {
				t.Fatalf("answer is %d, %q, %v", status, answer, err)
			}
		}
	}
	code = http.StatusForbidden
	ask(windowLeast)
	if err := r.ready(); err != nil {
		t.Errorf("refusals: %v", err)
	}
	code = http.StatusServiceUnavailable
	ask(windowLeast + 1)
	if err := r.ready(); err == nil {
		t.Error("reviews fail and the replica is ready")
	}
	if got := testutil.ToFloat64(r.host.metrics.requests.WithLabelValues("reviews", string(failed))); got != windowLeast+1 {
		t.Errorf("%v errors were counted", got)
	}
}
