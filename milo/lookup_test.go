// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/milo"
)

const (
	projectPath  = "/base/apis/resourcemanager.miloapis.com/v1alpha1/projects/"
	bindingsPath = "/control-plane/apis/networking.datumapis.com/v1alpha/locationbindings"
)

// server speaks the part of Milo's wire API that a lookup uses, below a base path, and remembers what was asked.
type server struct {
	*httptest.Server
	connections atomic.Int32
	mutex       sync.Mutex
	asked       []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.asked = append(s.asked, r.URL.Path)
	s.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, projectPath), "/")
	switch {
	case name == "slow":
		<-r.Context().Done()
	case name == "broken":
		w.WriteHeader(http.StatusBadGateway)
	case name == "closed":
		status(w, http.StatusForbidden, "Forbidden")
	case name == "unknown":
		status(w, http.StatusNotFound, "NotFound")
	case rest == "":
		fmt.Fprintf(w, `{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":%q},
			"status":{"conditions":[{"type":"Suspended","status":"True"}]}}`, name)
	case "/"+rest == bindingsPath:
		fmt.Fprintf(w, `{"apiVersion":"networking.datumapis.com/v1alpha","kind":"LocationBindingList","items":[%s,%s,%s,%s]}`,
			binding("a", "ord", "True"), binding("b", "ORD", "True"), binding("c", "DFW", "True"), binding("d", "XYZ", "False"))
	default:
		status(w, http.StatusInternalServerError, "InternalError")
	}
}

func status(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"code":%d,"message":"%s"}`, reason, code, reason)
}

func binding(name, city, available string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"topology":{"topology.datum.net/city-code":%q}},"status":{"conditions":[{"type":"Available","status":%q}]}}`,
		name, city, available)
}

func (s *server) lookup(t *testing.T) *milo.Lookup {
	t.Helper()
	lookup, err := milo.NewLookup(&rest.Config{Host: s.URL + "/base"})
	if err != nil {
		t.Fatal(err)
	}
	return lookup
}

func TestLookup(t *testing.T) {
	s := newServer(t)
	lookup := s.lookup(t)
	project, err := lookup.Project(t.Context(), "north")
	if err != nil || project.Name != "north" || !project.Suspended() {
		t.Errorf("project %+v, %v", project, err)
	}
	for _, name := range []string{"north", "south"} {
		cities, err := lookup.CityCodes(t.Context(), name)
		if err != nil || !slices.Equal(cities, []string{"DFW", "ORD"}) {
			t.Errorf("cities of %s are %v, %v", name, cities, err)
		}
	}
	// No discovery, one request a question, one connection for all projects.
	want := []string{projectPath + "north", projectPath + "north" + bindingsPath, projectPath + "south" + bindingsPath}
	if !slices.Equal(s.asked, want) {
		t.Errorf("asked for %q, want %q", s.asked, want)
	}
	if n := s.connections.Load(); n != 1 {
		t.Errorf("%d connections for two projects", n)
	}
}

func TestLookupErrors(t *testing.T) {
	s := newServer(t)
	gone := newServer(t)
	nobody := gone.lookup(t)
	gone.Close()
	cases := map[string]struct {
		lookup   *milo.Lookup
		project  string
		want     string
		notFound bool
	}{
		"no such project":   {lookup: s.lookup(t), project: "unknown", notFound: true},
		"a gateway error":   {lookup: s.lookup(t), project: "broken", want: "Milo cannot be reached"},
		"nobody listens":    {lookup: nobody, project: "north", want: "Milo cannot be reached"},
		"no answer in time": {lookup: s.lookup(t), project: "slow", want: "Milo cannot be reached"},
		"not permitted":     {lookup: s.lookup(t), project: "closed", want: "an administrator must grant it"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err := c.lookup.Project(ctx, c.project)
			if err == nil || errors.Is(err, milo.ErrProjectNotFound) != c.notFound || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Project: error is %v", err)
			}
			_, err = c.lookup.CityCodes(ctx, c.project)
			if err == nil || errors.Is(err, milo.ErrProjectNotFound) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("CityCodes: error is %v", err)
			}
		})
	}
}

// TestLookupIsNotThrottled: with the default of five requests a second, a hundred would take nearly twenty.
func TestLookupIsNotThrottled(t *testing.T) {
	lookup := newServer(t).lookup(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	for range 100 {
		if _, err := lookup.Project(ctx, "north"); err != nil {
			t.Fatal(err)
		}
	}
}
