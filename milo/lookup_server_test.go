// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/milo"
)

const (
	projectPath  = "/base/apis/resourcemanager.miloapis.com/v1alpha1/projects/"
	bindingsPath = "/control-plane/apis/networking.datumapis.com/v1alpha/locationbindings"
)

// server implements the part of Milo's API that a lookup uses, below a base path, and records requests. A path without
// a handler answers as for a project that is ready and has two cities.
type server struct {
	*httptest.Server
	connections atomic.Int32
	mutex       sync.Mutex
	asked       []string
	handlers    map[string]http.HandlerFunc
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{handlers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(func() {
		// Requests outlive their callers, and Close would wait for them.
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// on sets the handler of a path below projectPath.
func (s *server) on(path string, handler http.HandlerFunc) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.handlers[path] = handler
}

// requests are the paths that were requested since the last call.
func (s *server) requests() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, projectPath)
	s.mutex.Lock()
	s.asked = append(s.asked, path)
	handler := s.handlers[path]
	s.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, rest, _ := strings.Cut(path, "/")
	switch {
	case handler != nil:
		handler(w, r)
	case rest == "":
		project("1")(w, r)
	case "/"+rest == bindingsPath:
		fmt.Fprintf(w, `{"apiVersion":"networking.datumapis.com/v1alpha","kind":"LocationBindingList","items":[%s,%s,%s,%s]}`,
			binding("a", "ord", "True"), binding("b", "ORD", "True"), binding("c", "DFW", "True"), binding("d", "XYZ", "False"))
	default:
		failure(http.StatusInternalServerError, "InternalError")(w, r)
	}
}

// project answers with a ready Project.
func project(uid string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":%q,"uid":%q},
			"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, strings.TrimPrefix(r.URL.Path, projectPath), uid)
	}
}

// failure answers with a Status.
func failure(code int, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"code":%d,"message":"%s"}`, reason, code, reason)
	}
}

var (
	notFound  = failure(http.StatusNotFound, "NotFound")
	forbidden = failure(http.StatusForbidden, "Forbidden")
)

func badGateway(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func binding(name, city, available string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"topology":{"topology.datum.net/city-code":%q}},"status":{"conditions":[{"type":"Available","status":%q}]}}`,
		name, city, available)
}

func (s *server) lookup(t *testing.T) (*milo.Lookup, milo.TimerClock) {
	t.Helper()
	fake := milo.NewTimerClock()
	lookup, err := milo.NewLookup(milo.LookupOptions{Root: &rest.Config{Host: s.URL + "/base"}, Clock: fake})
	if err != nil {
		t.Fatal(err)
	}
	return lookup, fake
}

func named(name, uid string) *milo.Project {
	p := &milo.Project{}
	p.Name, p.UID = name, types.UID(uid)
	return p
}
