// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// controlPlanes are the control planes of projects that have Workloads and nothing else. They count requests.
type controlPlanes struct {
	mu sync.Mutex
	// workloads are the names of each project's Workloads.
	workloads map[string]map[string]bool
	watchers  map[chan string]string
	// deaf keeps watches open without events.
	deaf bool
	// requests and watches are by project, requests to Milo's root about a project by "root/" and its name.
	requests, watches map[string]int
	// gone are the projects that do not exist according to Milo's root. If away is set, Milo's root does not answer.
	gone map[string]bool
	away bool
}

func newControlPlanes(t *testing.T) (*controlPlanes, string) {
	t.Helper()
	c := &controlPlanes{
		workloads: map[string]map[string]bool{}, watchers: map[chan string]string{}, requests: map[string]int{}, watches: map[string]int{},
		gone: map[string]bool{},
	}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return c, server.URL
}

// change creates or deletes a Workload.
func (c *controlPlanes) change(project, workload string, exists bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	event := "DELETED"
	if exists {
		event = "ADDED"
		if c.workloads[project] == nil {
			c.workloads[project] = map[string]bool{}
		}
		c.workloads[project][workload] = true
	} else {
		delete(c.workloads[project], workload)
	}
	for watcher, of := range c.watchers {
		if of == project && !c.deaf {
			watcher <- fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", event, workloadJSON(workload))
		}
	}
}

// asked are the requests to a project so far, and the watches of it that are open.
func (c *controlPlanes) asked(project string) (requests, watches int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[project], c.watches[project]
}

func (c *controlPlanes) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func workloadJSON(name string) string {
	return fmt.Sprintf(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Workload","metadata":{"namespace":"default","name":%q,"uid":%q,"resourceVersion":"2"}}`, name, name)
}

// ServeHTTP answers.
func (c *controlPlanes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, path, _ := strings.Cut(r.URL.Path, "/projects/")
	project, path, inProject := strings.Cut(path, "/control-plane/")
	switch {
	case !inProject:
		c.serveProject(w, project)
	case r.URL.Query().Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Invalid","code":422}`)
	case r.URL.Query().Get("watch") != "":
		c.serveWatch(w, r, project, strings.HasSuffix(path, "/workloads"))
	default:
		c.serveList(w, project, strings.HasSuffix(path, "/workloads"))
	}
}

// serveProject is Milo's root.
func (c *controlPlanes) serveProject(w http.ResponseWriter, project string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests["root/"+project]++
	switch {
	case c.away:
		w.WriteHeader(http.StatusInternalServerError)
	case c.gone[project]:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404}`)
	default:
		fmt.Fprintf(w, `{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":%q,"uid":"1"}}`, project)
	}
}

func (c *controlPlanes) serveList(w http.ResponseWriter, project string, ofWorkloads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[project]++
	if !ofWorkloads {
		fmt.Fprint(w, `{"apiVersion":"networking.datumapis.com/v1alpha","kind":"LocationBindingList","metadata":{"resourceVersion":"1"},"items":[]}`)
		return
	}
	var items []string
	for name := range c.workloads[project] {
		items = append(items, workloadJSON(name))
	}
	fmt.Fprintf(w, `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadList","metadata":{"resourceVersion":"1"},"items":[%s]}`,
		strings.Join(items, ","))
}

func (c *controlPlanes) serveWatch(w http.ResponseWriter, r *http.Request, project string, ofWorkloads bool) {
	events := make(chan string, 10)
	c.set(func() {
		c.requests[project]++
		c.watches[project]++
		if ofWorkloads {
			c.watchers[events] = project
		}
	})
	defer c.set(func() {
		c.watches[project]--
		delete(c.watchers, events)
	})
	controller := http.NewResponseController(w)
	for {
		if controller.Flush() != nil {
			return
		}
		select {
		case event := <-events:
			fmt.Fprint(w, event)
		case <-r.Context().Done():
			return
		}
	}
}
