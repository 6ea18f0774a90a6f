// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

var (
	errRefused = &url.Error{Op: "Get", URL: "https://milo", Err: syscall.ECONNREFUSED}
	projectGR  = schema.GroupResource{Group: ResourceManagerGroupVersion.Group, Resource: "projects"}
)

// fakeRoot is Milo's root. It answers that the Project does not exist, or fails during an outage.
type fakeRoot struct {
	away  atomic.Bool
	asked atomic.Int32
}

func (r *fakeRoot) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.asked.Add(1)
	w.Header().Set("Content-Type", "application/json")
	code, reason := http.StatusNotFound, metav1.StatusReasonNotFound
	if r.away.Load() {
		code, reason = http.StatusForbidden, metav1.StatusReasonForbidden
	}
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"code":%d}`, reason, code)
}

func testPatience(t *testing.T, c clock.Clock) (*Patience, *fakeRoot) {
	t.Helper()
	root := &fakeRoot{}
	server := httptest.NewServer(root)
	t.Cleanup(server.Close)
	p, err := NewPatience(PatienceOptions{Root: &rest.Config{Host: server.URL, QPS: -1}, Clock: c, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	return p, root
}

// source returns its errors in order, and then answers.
type source struct {
	toolscache.ListerWatcher
	errs  []error
	calls atomic.Int32
}

func (s *source) next() error {
	if n := int(s.calls.Add(1)); n <= len(s.errs) {
		return s.errs[n-1]
	}
	return nil
}

func (s *source) ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return &ProjectList{}, s.next()
}

func (s *source) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), s.next()
}

// runClock advances the clock whenever a waiter exists, until the test ends.
func runClock(t *testing.T, fake *clocktesting.FakeClock) {
	t.Helper()
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	group.Go(func() {
		for ctx.Err() == nil {
			if fake.HasWaiters() {
				fake.Step(100 * time.Millisecond)
			}
			time.Sleep(100 * time.Microsecond)
		}
	})
	t.Cleanup(func() { cancel(); group.Wait() })
}

// TestInformersDoNotSeeThatMiloIsAway: lists and watches return when they are answered; an error that waiting does not
// resolve is returned at once.
func TestInformersDoNotSeeThatMiloIsAway(t *testing.T) {
	ahead := apierrors.NewTimeoutError("too large", 1)
	ahead.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	tests := map[string]struct {
		err  error
		want bool
	}{
		"no connection":             {errRefused, true},
		"a gateway":                 {apierrors.NewGenericServerResponse(http.StatusBadGateway, "list", projectGR, "", "", 0, true), true},
		"an error of the server":    {apierrors.NewInternalError(errDown), true},
		"too many requests":         {apierrors.NewTooManyRequests("later", 0), true},
		"a Milo without roles":      {apierrors.NewForbidden(projectGR, "", errDown), true},
		"a Milo without CAs":        {apierrors.NewUnauthorized("who?"), true},
		"an old resource version":   {apierrors.NewResourceExpired("old"), false},
		"a resource version to be":  {ahead, false},
		"a kind that is not served": {apierrors.NewNotFound(projectGR, ""), false},
		"no stream of a list":       {apierrors.NewInvalid(schema.GroupKind{}, "", nil), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fake := clocktesting.NewFakeClock(time.Unix(1e9, 0))
			runClock(t, fake)
			p, _ := testPatience(t, fake)
			begin := fake.Now()
			for kind, ask := range map[string]func(l *patient) error{
				"list":  func(l *patient) error { _, err := l.ListWithContext(t.Context(), metav1.ListOptions{}); return err },
				"watch": func(l *patient) error { _, err := l.WatchWithContext(t.Context(), metav1.ListOptions{}); return err },
			} {
				s := &source{errs: []error{test.err, test.err, test.err, test.err, test.err}}
				err := ask(&patient{source: s, patience: p})
				if test.want && (err != nil || s.calls.Load() != 6) {
					t.Errorf("%s: error is %v after %d requests", kind, err, s.calls.Load())
				}
				if !test.want && (!errors.Is(err, test.err) || s.calls.Load() != 1) {
					t.Errorf("%s: error is %v after %d requests", kind, err, s.calls.Load())
				}
			}
			if took := fake.Since(begin); took > 2*5*lastRetry {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestMissingRoleIsAnError after a while.
func TestMissingRoleIsAnError(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	runClock(t, fake)
	p, _ := testPatience(t, fake)
	s := &source{}
	for range 1000 {
		s.errs = append(s.errs, apierrors.NewForbidden(projectGR, "", errDown))
	}
	l := &patient{source: s, patience: p}
	begin := fake.Now()
	if _, err := l.ListWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("error is %v", err)
	}
	if took := fake.Since(begin); took < refusedFor || took > refusedFor+2*lastRetry {
		t.Errorf("it took %v", took)
	}
	before := s.calls.Load()
	if _, err := l.ListWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) || s.calls.Load() != before+1 {
		t.Errorf("the next time: %v", err)
	}
}

// TestOneAsksWhileMiloIsAway: many watches send nothing until the root answers, and all of them start then.
func TestOneAsksWhileMiloIsAway(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	p, root := testPatience(t, fake)
	root.away.Store(true)
	const watches = 100
	var sources [watches]source
	var group sync.WaitGroup
	for i := range watches {
		sources[i].errs = []error{errRefused}
		group.Go(func() {
			if _, err := (&patient{source: &sources[i], patience: p}).WatchWithContext(t.Context(), metav1.ListOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all wait", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.outage != nil && p.outage.waiting == watches
	})
	runClock(t, fake)
	eventually(t, "the root is asked", func() bool { return root.asked.Load() > 5 })
	sent := int32(0)
	for i := range sources {
		sent += sources[i].calls.Load()
	}
	if sent > watches {
		t.Errorf("%d requests were sent while Milo was away", sent)
	}
	root.away.Store(false)
	group.Wait()
	if p.outage != nil {
		t.Error("the outage does not end")
	}
}

// TestNobodyWaits: without a waiter, Milo is not asked.
func TestNobodyWaits(t *testing.T) {
	p, root := testPatience(t, clock.RealClock{})
	root.away.Store(true)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := (&patient{source: &source{errs: []error{errRefused}}, patience: p}).ListWithContext(ctx, metav1.ListOptions{})
		left <- err
	}()
	eventually(t, "the root is asked", func() bool { return root.asked.Load() > 0 })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage != nil {
		t.Error("Milo is asked for nobody")
	}
}
