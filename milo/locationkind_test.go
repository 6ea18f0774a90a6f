// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// bareMilo is a Milo with a project north, to which an operator adds LocationBindings, or of which only a gateway is
// reachable.
type bareMilo struct {
	installed, network, gateway atomic.Bool
	questions                   atomic.Int32
}

func (m *bareMilo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kinds := []string{}
	if m.network.Load() {
		kinds = append(kinds, `{"name":"networks","kind":"Network","namespaced":true,"verbs":["list"]}`)
	}
	if m.installed.Load() {
		kinds = append(kinds, `{"name":"locationbindings","kind":"LocationBinding","verbs":["list"]}`)
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case m.gateway.Load():
		http.NotFound(w, r)
	case r.URL.Path == "/apis":
		m.questions.Add(1)
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"resourcemanager.miloapis.com"}]}`)
	case r.URL.Path == "/apis/networking.datumapis.com/v1alpha" && len(kinds) > 0:
		m.questions.Add(1)
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"networking.datumapis.com/v1alpha","resources":[%s]}`,
			strings.Join(kinds, ","))
	case strings.HasSuffix(r.URL.Path, "/locationbindings") && m.installed.Load():
		serveOneBinding(w, r)
	default:
		http.NotFound(w, r)
	}
}

// serveOneBinding is a control plane with a LocationBinding.
func serveOneBinding(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") != "" {
		serveLocationBindings(w, r)
		return
	}
	fmt.Fprint(w, `{"apiVersion":"networking.datumapis.com/v1alpha","kind":"LocationBindingList","metadata":{"resourceVersion":"2"},"items":[
		{"metadata":{"name":"a","resourceVersion":"2"},"spec":{"topology":{"topology.datum.net/city-code":"DFW"}},"status":{"conditions":[{"type":"Available","status":"True"}]}}]}`)
}

// kindFixture is a Milo whose LocationBindings an operator installs, with the add-on's state about it.
type kindFixture struct {
	*bareMilo
	root  *rest.Config
	clock *clocktesting.FakeClock
	kind  *LocationKind
	logs  atomic.Int32
}

func newKindFixture(t *testing.T) *kindFixture {
	t.Helper()
	f := &kindFixture{bareMilo: &bareMilo{}, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	f.root = &rest.Config{Host: server.URL, QPS: -1}
	var err error
	f.kind, err = NewLocationKind(LocationKindOptions{
		Root: f.root, Clock: f.clock, Registerer: prometheus.NewRegistry(),
		Log: funcr.New(func(string, string) { f.logs.Add(1) }, funcr.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lookup looks up the locations of a project, bypassing all caches.
func (f *kindFixture) lookup(t *testing.T) func() ([]cities.Location, error) {
	t.Helper()
	lookup, err := NewLookup(LookupOptions{Root: f.root, Clock: f.clock, LocationKind: f.kind})
	if err != nil {
		t.Fatal(err)
	}
	north := readyProject("north", "1")
	return func() ([]cities.Location, error) {
		f.clock.Step(2 * time.Second)
		fresh, err := lookup.FreshLocations(t.Context(), north)
		if cached, _, again := lookup.Locations(t.Context(), north); len(cached) != len(fresh) || (again == nil) != (err == nil) {
			t.Errorf("Locations gives %v, %v, and FreshLocations %v, %v", cached, again, fresh, err)
		}
		return fresh, err
	}
}

// TestLookupOfLocationsThatAreNotServed verifies that a missing kind is no outage, is found by Milo's own answer only,
// and is logged once.
func TestLookupOfLocationsThatAreNotServed(t *testing.T) {
	f := newKindFixture(t)
	look := f.lookup(t)
	for range 3 {
		if _, err := look(); !errors.Is(err, cities.ErrLocationsNotServed) || apierrors.IsServiceUnavailable(err) {
			t.Errorf("without the group: %v", err)
		}
	}
	f.network.Store(true)
	if _, err := look(); !errors.Is(err, cities.ErrLocationsNotServed) {
		t.Errorf("with another kind of the group: %v", err)
	}
	if logs, served := f.logs.Load(), testutil.ToFloat64(f.kind.served); logs != 1 || served != 0 {
		t.Errorf("logged %d times, the metric is %v", logs, served)
	}
	f.gateway.Store(true)
	if _, err := look(); errors.Is(err, cities.ErrLocationsNotServed) || err == nil ||
		!strings.Contains(err.Error(), "Milo cannot be reached") {
		t.Errorf("a gateway's 404 is taken for Milo's: %v", err)
	}
	f.gateway.Store(false)
	f.installed.Store(true)
	if locations, err := look(); err != nil || len(locations) != 1 {
		t.Errorf("installed: %v, %v", locations, err)
	}
}

// TestQuestionsForTheKindAreShared verifies that many requests of a moment send one question.
func TestQuestionsForTheKindAreShared(t *testing.T) {
	f := newKindFixture(t)
	missing := apierrors.NewNotFound(projectGR, "")
	for range 100 {
		if !f.kind.Explains(t.Context(), missing) {
			t.Fatal("the kind is not found missing")
		}
	}
	if got := f.questions.Load(); got != 1 {
		t.Errorf("%d questions", got)
	}
	if f.kind.Explains(t.Context(), apierrors.NewForbidden(projectGR, "", nil)) || f.kind.Explains(t.Context(), nil) {
		t.Error("a refusal, or no error, is explained by a missing kind")
	}
}

// TestProjectIsEngagedWithoutLocations verifies that a project is reconciled although Milo does not serve
// LocationBindings, that an empty cache is not taken for a project without locations, and that the bindings are there
// when the kind is.
func TestProjectIsEngagedWithoutLocations(t *testing.T) {
	f := newKindFixture(t)
	runClock(t, f.clock)
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	patience, err := NewPatience(PatienceOptions{Root: f.root, Clock: f.clock, Log: f.kind.log, LocationKind: f.kind})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProvider(ProviderOptions{
		Root: f.root, Scheme: scheme, Shards: 1, Log: f.kind.log, Kinds: []client.Object{&LocationBinding{}}, Patience: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.own(t.Context(), 0)
	p.Observe(readyProject("north", "1"))
	eventually(t, "engaged", func() bool { return isEngaged(p, "north") })
	cluster, err := p.Get(t.Context(), multicluster.ClusterName("north"))
	if err != nil {
		t.Fatal(err)
	}
	list := func() ([]cities.Location, error) {
		return Locations{Kind: f.kind}.List(context.WithoutCancel(t.Context()), cluster.GetClient())
	}
	if locations, err := list(); !errors.Is(err, cities.ErrLocationsNotServed) {
		t.Errorf("got %v, %v", locations, err)
	}
	f.installed.Store(true)
	eventually(t, "a location", func() bool {
		locations, err := list()
		return err == nil && len(locations) == 1
	})
	if served := testutil.ToFloat64(f.kind.served); served != 1 {
		t.Errorf("the metric is %v", served)
	}
}

// TestOnlyLocationsMayBeMissing verifies that no other kind is treated as empty: a project without Workloads is
// released.
func TestOnlyLocationsMayBeMissing(t *testing.T) {
	f := newKindFixture(t)
	patience, err := NewPatience(PatienceOptions{Root: f.root, Clock: f.clock, Log: f.kind.log, LocationKind: f.kind})
	if err != nil {
		t.Fatal(err)
	}
	other := &patient{source: &source{errs: []error{apierrors.NewNotFound(projectGR, "")}}, patience: patience}
	if _, err := other.ListWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}
