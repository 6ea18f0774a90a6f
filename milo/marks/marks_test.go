// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// hub simulates the hub's outages. The hub's real answers are tested in package milo, with a kube-apiserver.
type hub struct {
	// answer is the code of its answers; 0: no answer.
	answer  atomic.Int32
	creates atomic.Int32
}

// ServeHTTP answers.
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The server notices that a client has gone only after its request was read.
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	code := int(h.answer.Load())
	switch {
	case code == 0:
		<-r.Context().Done()
	case r.Method == http.MethodPost && code == http.StatusCreated:
		h.creates.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","resourceVersion":"1"}}`)
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func newMarks(t *testing.T, answer int32) (*Marks, *hub) {
	t.Helper()
	h := &hub{}
	h.answer.Store(answer)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	m, err := New(Options{
		Hub: &rest.Config{Host: server.URL, QPS: -1}, Namespace: "karmada-system", Clock: clock.RealClock{},
		Registerer: prometheus.NewPedanticRegistry(), Log: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := m.Start(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
	return m, h
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return check(), nil
	}); err != nil {
		t.Fatalf("not in time: %s", what)
	}
}

func (m *Marks) isAway() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.away
}

// TestHangingHubDelaysLittle: admission continues before the first attempt ends.
func TestHangingHubDelaysLittle(t *testing.T) {
	t.Parallel()
	m, _ := newMarks(t, 0)
	m.Mark(t.Context(), "north")
	if m.isAway() {
		t.Error("the attempt was waited for")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	m.Mark(stopped, "north")
}

// TestHubIsAway: no caller waits after the first failure, and every project gets its mark afterwards, written once,
// whatever its number of Workloads.
func TestHubIsAway(t *testing.T) {
	t.Parallel()
	m, h := newMarks(t, http.StatusServiceUnavailable)
	m.Mark(t.Context(), "north")
	eventually(t, "the outage is known", m.isAway)
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			if m.enqueue(fmt.Sprintf("project-%d", i%5)) != nil {
				t.Error("a request waits for a hub that is away")
			}
			m.Mark(t.Context(), "north")
		})
	}
	group.Wait()
	h.answer.Store(http.StatusCreated)
	eventually(t, "all are written", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.pending) == 0
	})
	if creates := h.creates.Load(); creates != 6 {
		t.Errorf("%d marks of 6 projects were written", creates)
	}
	if written := testutil.ToFloat64(m.results.WithLabelValues(resultWritten)); written != 6 {
		t.Errorf("%v marks count as written", written)
	}
}

// TestTooManyWait: the queue for the hub is bounded, and projects that do not fit are counted.
func TestTooManyWait(t *testing.T) {
	t.Parallel()
	m, _ := newMarks(t, 0)
	for i := range maxPending + 2 {
		m.Ensure(fmt.Sprintf("project-%d", i))
	}
	if dropped := testutil.ToFloat64(m.results.WithLabelValues(resultDropped)); dropped != 2 {
		t.Errorf("%v were dropped", dropped)
	}
}
