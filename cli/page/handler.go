// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/internal/listeners"
)

//go:embed assets
var assets embed.FS

// types are the files that are served, by the ends of their names.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

const (
	// longestName bounds the parameters of a request: a name of Kubernetes, or a version.
	longestName = 253
	typeJSON    = "application/json; charset=utf-8"
)

// Options of the page.
type Options struct {
	Open Open
	// Token is the first part of the path of each address.
	Token string
	// Port is the port that the page is served on.
	Port string
	// Wait is how long a request for the next state waits for one.
	Wait time.Duration
}

// New returns the handler of the page.
func New(o Options) http.Handler {
	return &handler{options: o, guard: newGuard(o.Token, o.Port), logs: make(chan struct{}, MostLogs)}
}

type handler struct {
	options Options
	guard   *guard
	// logs has an element for each log that is followed.
	logs chan struct{}
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	name, refused := h.guard.check(r)
	if refused != nil {
		http.Error(w, refused.message, refused.status)
		return
	}
	listeners.Prove(r.Context())
	query := r.URL.Query()
	for _, values := range query {
		if len(values) != 1 || len(values[0]) > longestName {
			http.Error(w, "a parameter is repeated, or too long", http.StatusBadRequest)
			return
		}
	}
	if !slices.Contains(asked, name) {
		h.file(w, name)
		return
	}
	source, leave := h.options.Open(query.Get("namespace"))
	defer leave()
	switch workload := query.Get("workload"); name {
	case "state":
		h.state(w, r, source, Query{
			Workload: workload, Name: query.Get("name"), City: query.Get("city"), Level: query.Get("level"),
		})
	case "instances":
		answer(w, map[string]any{"instances": source.Instances(r.Context(), workload, query.Get("first"))})
	case "way":
		answer(w, map[string]any{"way": source.Way(r.Context(), workload, query.Get("instance"))})
	case "log":
		h.log(w, r, source, LogRequest{
			Instance: query.Get("instance"), Container: query.Get("container"), Previous: query.Get("previous") == "true",
		})
	}
}

// asked are the names of what is no file.
var asked = []string{"state", "instances", "way", "log"}

// state answers with the first state that differs from the version that the page has, or after some time with nothing.
func (h *handler) state(w http.ResponseWriter, r *http.Request, source Source, q Query) {
	timer := time.NewTimer(h.options.Wait)
	defer timer.Stop()
	for {
		changed := source.Changed()
		body, err := json.Marshal(source.State(r.Context(), q))
		if err != nil {
			http.Error(w, "encode the state: "+err.Error(), http.StatusInternalServerError)
			return
		}
		sum := sha256.Sum256(body)
		if version := hex.EncodeToString(sum[:8]); version != r.URL.Query().Get("after") {
			answer(w, map[string]any{"version": version, "state": json.RawMessage(body)})
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			w.WriteHeader(http.StatusNoContent)
			return
		case <-r.Context().Done():
			return
		}
	}
}

func answer(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, "encode the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", typeJSON)
	_, _ = w.Write(body) // the browser may be gone
}

// file answers with a file of the page.
func (h *handler) file(w http.ResponseWriter, name string) {
	if name == "" {
		name = "index.html"
	}
	content, err := assets.ReadFile("assets/" + name)
	kind := types[path.Ext(name)]
	if err != nil || kind == "" {
		http.Error(w, "the page has no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(content)
}
