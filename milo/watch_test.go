// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// handled receives the events of a Watch.
type handled chan string

func (h handled) Observe(p *Project) { h <- "saw " + p.Name }
func (h handled) Forget(p *Project)  { h <- "lost " + p.Name }

// TestWatch: every handler receives every Project, although Milo refuses the first requests, as a Milo that has just
// started does.
func TestWatch(t *testing.T) {
	refusals, events := make(chan int, 3), make(chan string)
	for range cap(refusals) {
		refusals <- http.StatusForbidden
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case code := <-refusals:
			w.WriteHeader(code)
			return
		default:
		}
		if r.URL.Query().Get("watch") == "" || r.URL.Query().Get("sendInitialEvents") != "" {
			serveProjectList(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		for {
			if flusher, ok := w.(http.Flusher); ok {
				flusher.Flush()
			}
			select {
			case event := <-events:
				fmt.Fprint(w, event)
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	config := &rest.Config{Host: server.URL, QPS: -1}
	patience, err := NewPatience(PatienceOptions{Root: config, Clock: clock.RealClock{}, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	one, other := make(handled, 10), make(handled, 10)
	w := NewWatch(config, patience, labels.Nothing(), one)
	w.AddHandler(other)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Start(ctx) }()
	for _, step := range []struct{ event, want string }{
		{"", "saw north"},
		{
			`{"type":"DELETED","object":{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":"north","resourceVersion":"2"}}}`, "lost north",
		},
	} {
		if step.event != "" {
			events <- step.event
		}
		for _, handler := range []handled{one, other} {
			if got := <-handler; got != step.want {
				t.Errorf("a handler %s, want %s", got, step.want)
			}
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// serveProjectList lists project north, and has no streaming lists.
func serveProjectList(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") != "" {
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Invalid","code":422}`)
		return
	}
	fmt.Fprint(w, `{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"ProjectList","metadata":{"resourceVersion":"1"},
		"items":[{"metadata":{"name":"north","resourceVersion":"1"}}]}`)
}
