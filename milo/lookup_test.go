// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/milo"
)

func TestLookup(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	var want []string
	for _, name := range []string{"north", "south"} {
		p, err := lookup.Project(t.Context(), name)
		if err != nil || p.Name != name || p.UID != "1" || !p.IsReady() {
			t.Fatalf("project %+v, %v", p, err)
		}
		cities, _, err := lookup.CityCodes(t.Context(), p)
		if err != nil || !slices.Equal(cities, []string{"DFW", "ORD"}) {
			t.Errorf("cities of %s are %v, %v", name, cities, err)
		}
		want = append(want, name, name+bindingsPath)
	}
	// No discovery, one request per lookup, one connection for all projects.
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
	if n := s.connections.Load(); n != 1 {
		t.Errorf("%d connections for two projects", n)
	}
}

func TestLookupErrors(t *testing.T) {
	s := newServer(t)
	gone := newServer(t)
	nobody, _ := gone.lookup(t)
	gone.Close()
	for name, handler := range map[string]http.HandlerFunc{
		"broken": badGateway, "closed": forbidden, "slow": hang, "misrouted": http.NotFound,
	} {
		s.on(name, handler)
		s.on(name+bindingsPath, handler)
	}
	working, _ := s.lookup(t)
	cases := map[string]struct {
		lookup  *milo.Lookup
		project string
		want    string
	}{
		"a gateway error":   {working, "broken", "Milo cannot be reached"},
		"a gateway's 404":   {working, "misrouted", "Milo cannot be reached"},
		"nobody listens":    {nobody, "north", "Milo cannot be reached"},
		"no answer in time": {working, "slow", "Milo cannot be reached"},
		"not permitted":     {working, "closed", "Milo refuses the add-on"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err := c.lookup.Project(ctx, c.project)
			if err == nil || errors.Is(err, milo.ErrProjectNotFound) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Project: error is %v", err)
			}
			_, _, err = c.lookup.CityCodes(ctx, named(c.project, "1"))
			if err == nil || errors.Is(err, milo.ErrProjectNotFound) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("CityCodes: error is %v", err)
			}
		})
	}
	if _, err := milo.NewLookup(milo.LookupOptions{}); err == nil {
		t.Error("a Lookup without a configuration for Milo's root was made")
	}
}

// TestLookupIsNotThrottled: with the default of five requests a second, two hundred would take 38 s.
func TestLookupIsNotThrottled(t *testing.T) {
	lookup, _ := newServer(t).lookup(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i := range 200 {
		if _, err := lookup.Project(ctx, fmt.Sprint("north-", i)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProjectIsRemembered(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	uid := func(want types.UID, requests int) {
		t.Helper()
		p, err := lookup.Project(t.Context(), "north")
		if err != nil || p.UID != want {
			t.Fatalf("project %v, %v, want the UID %s", p, err, want)
		}
		if n := len(s.requests()); n != requests {
			t.Errorf("Milo was asked %d times, want %d", n, requests)
		}
	}
	uid("1", 1)
	s.on("north", project("2"))
	fake.Step(5*time.Second - 1)
	uid("1", 0)
	fake.Step(1)
	uid("2", 1)
	// A deleted project is not served while Milo fails, and a project that was not found may have been created since.
	s.on("north", notFound)
	fake.Step(5 * time.Second)
	for range 2 {
		if _, err := lookup.Project(t.Context(), "north"); !errors.Is(err, milo.ErrProjectNotFound) {
			t.Fatalf("error is %v", err)
		}
	}
	fake.Step(2*time.Second - 1)
	if _, err := lookup.Project(t.Context(), "north"); !errors.Is(err, milo.ErrProjectNotFound) || len(s.requests()) != 1 {
		t.Fatalf("not found is not remembered for 2 s: %v", err)
	}
	s.on("north", badGateway)
	fake.Step(1)
	if _, err := lookup.Project(t.Context(), "north"); err == nil || errors.Is(err, milo.ErrProjectNotFound) {
		t.Fatalf("while Milo errs error is %v", err)
	}
	s.requests()
	s.on("north", project("3"))
	fake.Step(time.Second)
	uid("3", 1)
}

func TestNameThatNoProjectHas(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	for _, name := range []string{"", "..", "a/b", "North", "north?watch=1"} {
		if _, err := lookup.Project(t.Context(), name); !errors.Is(err, milo.ErrProjectNotFound) {
			t.Errorf("%q: error is %v", name, err)
		}
	}
	if got := s.requests(); len(got) != 0 {
		t.Errorf("Milo was asked for %q", got)
	}
}

func TestCityCodesAreRememberedForAProject(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	cities := func(uid string, requests int) {
		t.Helper()
		got, _, err := lookup.CityCodes(t.Context(), named("north", uid))
		if err != nil || !slices.Equal(got, []string{"DFW", "ORD"}) {
			t.Fatalf("cities are %v, %v", got, err)
		}
		// A caller may change its copy.
		got[0] = "XYZ"
		if n := len(s.requests()); n != requests {
			t.Errorf("Milo was asked %d times, want %d", n, requests)
		}
	}
	cities("1", 1)
	cities("1", 0)
	cities("2", 1)
	fake.Step(5*time.Second - 1)
	cities("1", 0)
	fake.Step(1)
	cities("1", 1)
}

// TestCityCodesWhileMiloErrs: known cities are used for ten minutes, with their age; no city is invented.
func TestCityCodesWhileMiloErrs(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	north := named("north", "1")
	if _, age, err := lookup.CityCodes(t.Context(), north); err != nil || age != 0 {
		t.Fatalf("age is %v, %v", age, err)
	}
	s.on("north"+bindingsPath, badGateway)
	for _, wait := range []time.Duration{5 * time.Second, 5*time.Minute - 5*time.Second, 5 * time.Minute} {
		fake.Step(wait)
		if got, age, err := lookup.CityCodes(t.Context(), north); err != nil || len(got) != 2 || age < wait {
			t.Errorf("after %v more cities are %v of %v ago, %v", wait, got, age, err)
		}
		if got, err := lookup.FreshLocations(t.Context(), north); err == nil {
			t.Errorf("fresh cities are %v", got)
		}
	}
	fake.Step(time.Second)
	if got, _, err := lookup.CityCodes(t.Context(), named("north", "2")); err == nil {
		t.Errorf("cities of another project are %v", got)
	}
	if got, _, err := lookup.CityCodes(t.Context(), north); err == nil {
		t.Errorf("after ten minutes cities are %v", got)
	}
	s.on("north"+bindingsPath, nil)
	fake.Step(time.Second)
	if got, age, err := lookup.CityCodes(t.Context(), north); err != nil || len(got) != 2 || age != 0 {
		t.Errorf("once Milo is back cities are %v of %v ago, %v", got, age, err)
	}
}

func TestHangingPlaneDelaysNoOther(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	hanging := make(chan struct{})
	s.on("stuck"+bindingsPath, func(w http.ResponseWriter, r *http.Request) {
		close(hanging)
		hang(w, r)
	})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, _, err := lookup.CityCodes(ctx, named("stuck", "1"))
		left <- err
	}()
	<-hanging
	if got, _, err := lookup.CityCodes(t.Context(), named("north", "1")); err != nil || len(got) != 2 {
		t.Errorf("cities are %v, %v", got, err)
	}
	if p, err := lookup.Project(t.Context(), "stuck"); err != nil || p.Name != "stuck" {
		t.Errorf("project %v, %v", p, err)
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestProbe(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	const probe = "karmada-compute-probe"
	for _, c := range []struct {
		handler http.HandlerFunc
		want    string
	}{
		{project("1"), ""},
		{notFound, ""},
		{badGateway, "Milo cannot be reached"},
		{http.NotFound, "Milo cannot be reached"},
		{forbidden, "Milo refuses"},
		{notFound, ""},
	} {
		s.on(probe, c.handler)
		err := lookup.Probe(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
		if got := s.requests(); !slices.Equal(got, []string{probe}) {
			t.Errorf("asked for %q", got)
		}
	}
	s.on(probe, hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := lookup.Probe(ctx); !errors.Is(err, context.DeadlineExceeded) || !apierrors.IsServiceUnavailable(err) {
		t.Errorf("error is %v", err)
	}
}

// TestFreshLocations: a cached answer is fetched again, a recent failure is not retried.
func TestFreshLocations(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	north := named("north", "1")
	for i := range 3 {
		if got, err := lookup.FreshLocations(t.Context(), north); err != nil || len(got) != 4 || len(s.requests()) != 1 {
			t.Errorf("question %d: cities are %v, %v", i, got, err)
		}
	}
	if _, _, err := lookup.CityCodes(t.Context(), north); err != nil || len(s.requests()) != 0 {
		t.Errorf("a fresh answer is not remembered: %v", err)
	}
	s.on("north"+bindingsPath, badGateway)
	for want := range []int{1, 0} {
		if got, err := lookup.FreshLocations(t.Context(), north); err == nil || len(s.requests()) != 1-want {
			t.Errorf("while Milo errs cities are %v", got)
		}
	}
}

// TestFreshProject: an answer that refuses a request is at most a second old, and never from before an outage.
func TestFreshProject(t *testing.T) {
	s := newServer(t)
	lookup, fake := s.lookup(t)
	s.on("north", notFound)
	if _, err := lookup.Project(t.Context(), "north"); !errors.Is(err, milo.ErrProjectNotFound) {
		t.Fatalf("error is %v", err)
	}
	s.on("north", project("1"))
	fake.Step(time.Second - 1)
	if _, err := lookup.FreshProject(t.Context(), "north"); !errors.Is(err, milo.ErrProjectNotFound) {
		t.Errorf("requests of one second do not share a refusal: %v", err)
	}
	fake.Step(1)
	if _, err := lookup.Project(t.Context(), "north"); !errors.Is(err, milo.ErrProjectNotFound) {
		t.Errorf("error is %v", err)
	}
	s.requests()
	for range 2 {
		if p, err := lookup.FreshProject(t.Context(), "north"); err != nil || p.UID != "1" {
			t.Errorf("got %v, %v", p, err)
		}
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("Milo was asked %d times", n)
	}
	s.on("north", badGateway)
	fake.Step(time.Second)
	for range 2 {
		if p, err := lookup.FreshProject(t.Context(), "north"); err == nil || errors.Is(err, milo.ErrProjectNotFound) {
			t.Errorf("while Milo errs: %v, %v", p, err)
		}
	}
	if p, err := lookup.Project(t.Context(), "north"); err != nil || p.UID != "1" {
		t.Errorf("what was known is lost: %v, %v", p, err)
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("Milo was asked %d times", n)
	}
	if _, err := lookup.FreshProject(t.Context(), "a/b"); !errors.Is(err, milo.ErrProjectNotFound) {
		t.Errorf("error is %v", err)
	}
}

// TestEventsReplaceWhatIsCached: events replace cached entries, and add none.
func TestEventsReplaceWhatIsCached(t *testing.T) {
	s := newServer(t)
	lookup, _ := s.lookup(t)
	uid := func(want types.UID, requests int) {
		t.Helper()
		p, err := lookup.Project(t.Context(), "north")
		if err != nil || p.UID != want || len(s.requests()) != requests {
			t.Errorf("got %v, %v", p, err)
		}
	}
	lookup.Observe(named("north", "0"))
	uid("1", 1)
	lookup.Observe(named("north", "2"))
	uid("2", 0)
	lookup.Forget(named("north", "2"))
	if _, err := lookup.Project(t.Context(), "north"); !errors.Is(err, milo.ErrProjectNotFound) || len(s.requests()) != 0 {
		t.Errorf("a project that is gone: %v", err)
	}
	lookup.Observe(named("north", "3"))
	uid("3", 0)
}

// TestEventDuringARequest: the answer to a request that began before an event is older than the event, unless its
// resource version shows otherwise.
func TestEventDuringARequest(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		want    types.UID
	}{"an older answer": {"7", "event"}, "a newer answer": {"9", "answer"}} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			lookup, fake := s.lookup(t)
			if _, err := lookup.Project(t.Context(), "north"); err != nil {
				t.Fatal(err)
			}
			fake.Step(5 * time.Second)
			s.on("north", func(w http.ResponseWriter, _ *http.Request) {
				event := named("north", "event")
				event.ResourceVersion = "8"
				lookup.Observe(event)
				fmt.Fprintf(w, `{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":"north","uid":"answer","resourceVersion":%q}}`, c.version)
			})
			for range 2 {
				if p, err := lookup.Project(t.Context(), "north"); err != nil || p.UID != c.want {
					t.Errorf("got %v, %v", p, err)
				}
			}
		})
	}
}
