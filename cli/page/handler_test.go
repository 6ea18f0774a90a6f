// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const (
	token = "WRITTENBYNOBODY"
	below = "/" + token
)

// source is a state that tests set.
type source struct {
	mu      sync.Mutex
	state   State
	changed chan struct{}
	// follow writes the log of every Instance; nil: there is no Instance.
	follow func(context.Context, io.Writer) error
}

// open implements Open: the source has one namespace.
func (s *source) open(string) (Source, func()) { return s, func() {} }

func newSource() *source {
	return &source{state: State{Namespace: "shop", Loaded: true}, changed: make(chan struct{})}
}

func (s *source) set(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *source) State(_ context.Context, q Query) *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	result := s.state
	if q.Workload != "" {
		result.Workload = &Workload{Name: q.Workload, Tree: &view.Node{}}
	}
	return &result
}

func (s *source) Instances(_ context.Context, _, first string) []*view.Node {
	return []*view.Node{{Kind: "Instance", Name: first}}
}

func (s *source) Way(_ context.Context, _, instance string) *view.Way {
	return &view.Way{Kind: "Instance", Name: instance}
}

func (s *source) Log(_ context.Context, asked LogRequest) (*Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follow == nil {
		return nil, fmt.Errorf("Instance %s not found", asked.Instance)
	}
	return &Log{Containers: []string{"web", "sidecar"}, Container: cmp.Or(asked.Container, "web"), Follow: s.follow}, nil
}

func (s *source) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func newPage(s *source) http.Handler {
	return New(Options{Open: s.open, Token: token, Port: "8001", Wait: time.Minute})
}

// get asks the page. change changes the request.
func get(t *testing.T, handler http.Handler, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8001"+path, http.NoBody)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// TestGuard: the page answers its own requests, and the user who opens it, alone.
func TestGuard(t *testing.T) {
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	withBody := func(r *http.Request) { r.ContentLength = 1 }
	host := func(value string) func(*http.Request) { return func(r *http.Request) { r.Host = value } }
	cases := map[string]struct {
		path   string
		change func(*http.Request)
		want   int
	}{
		"opened":                   {path: below + "/", want: http.StatusOK},
		"by its other name":        {path: below + "/", change: host("localhost:8001"), want: http.StatusOK},
		"its own request":          {path: below + "/state", change: header("Origin", "http://127.0.0.1:8001"), want: http.StatusOK},
		"no token":                 {path: "/", want: http.StatusNotFound},
		"no token, a file":         {path: "/app.js", want: http.StatusNotFound},
		"another token":            {path: "/" + strings.ToLower(token) + "/", want: http.StatusNotFound},
		"the beginning of a token": {path: "/" + token[:5] + "/state", want: http.StatusNotFound},
		"a longer token":           {path: "/" + token + "A/state", want: http.StatusNotFound},
		"DNS rebinding":            {path: below + "/state", change: host("attacker.example:8001"), want: http.StatusForbidden},
		"rebinding of a suffix":    {path: below + "/state", change: host("127.0.0.1.attacker.example:8001"), want: http.StatusForbidden},
		"another port":             {path: below + "/state", change: host("127.0.0.1:8002"), want: http.StatusForbidden},
		"no host":                  {path: below + "/state", change: host(""), want: http.StatusForbidden},
		"another site":             {path: below + "/state", change: header("Origin", "http://attacker.example"), want: http.StatusForbidden},
		"another page here":        {path: below + "/state", change: header("Origin", "http://127.0.0.1:9000"), want: http.StatusForbidden},
		"a file of another site":   {path: below + "/state", change: header("Origin", "null"), want: http.StatusForbidden},
		"a script of another site": {path: below + "/app.js", change: header("Sec-Fetch-Site", "cross-site"), want: http.StatusForbidden},
		"an image on another port": {path: below + "/icon.svg", change: header("Sec-Fetch-Site", "same-site"), want: http.StatusForbidden},
		"a link elsewhere": {path: below + "/", want: http.StatusOK, change: func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "document")
		}},
		"a frame elsewhere": {path: below + "/", want: http.StatusForbidden, change: func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "iframe")
		}},
		"a body":                 {path: below + "/state", change: withBody, want: http.StatusMethodNotAllowed},
		"outside of the assets":  {path: below + "/../page.go", want: http.StatusNotFound},
		"an unknown file":        {path: below + "/none.js", want: http.StatusNotFound},
		"the folder":             {path: below + "/assets", want: http.StatusNotFound},
		"a log, by another site": {path: below + "/log", change: header("Sec-Fetch-Site", "cross-site"), want: http.StatusForbidden},
		"a log, without a token": {path: "/log?instance=web-0", want: http.StatusNotFound},
		"a long parameter":       {path: below + "/state?workload=" + strings.Repeat("a", 254), want: http.StatusBadRequest},
		"a parameter twice":      {path: below + "/state?workload=a&workload=b", want: http.StatusBadRequest},
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT"} {
		cases[method] = struct {
			path   string
			change func(*http.Request)
			want   int
		}{"/" + token + "/state", func(r *http.Request) { r.Method = method }, http.StatusMethodNotAllowed}
	}
	page := newPage(newSource())
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := get(t, page, c.path, c.change)
			if got.Code != c.want {
				t.Errorf("got %d %s, want %d", got.Code, got.Body, c.want)
			}
			if c.want != http.StatusOK && strings.Contains(got.Body.String(), "shop") {
				t.Errorf("a refusal shows the state: %s", got.Body)
			}
			for header, value := range headers {
				if got.Header().Get(header) != value {
					t.Errorf("%s is %q", header, got.Header().Get(header))
				}
			}
			if allowed := got.Header().Get("Access-Control-Allow-Origin"); allowed != "" {
				t.Errorf("other origins may read: %s", allowed)
			}
		})
	}
}

// TestPolicy: the policy permits files of the page alone, and no markup from text.
func TestPolicy(t *testing.T) {
	policy := headers["Content-Security-Policy"]
	for _, want := range []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
	} {
		if !strings.Contains(policy, want) {
			t.Errorf("%q is missing in %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "data:") {
		t.Errorf("the policy allows too much: %s", policy)
	}
}

// TestFilesNeverMakeMarkup: no script turns text into markup or code, and no page has a script or a style of its own.
func TestFilesNeverMakeMarkup(t *testing.T) {
	sinks := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|srcdoc|` +
		`setAttribute\('on|javascript:`)
	inline := regexp.MustCompile(`<script(?:[^>]*)>[^<]|<style|\sstyle=|\son\w+=|https?://`)
	files, err := fs.Glob(assets, "assets/*")
	if err != nil || len(files) < 6 {
		t.Fatalf("got %v %v", files, err)
	}
	for _, name := range files {
		content, err := fs.ReadFile(assets, name)
		if err != nil {
			t.Fatal(err)
		}
		if found := sinks.Find(content); found != nil {
			t.Errorf("%s has %s", name, found)
		}
		if found := inline.Find(content); found != nil && strings.HasSuffix(name, ".html") {
			t.Errorf("%s has %s", name, found)
		}
		got := get(t, newPage(newSource()), "/"+token+"/"+strings.TrimPrefix(name, "assets/"), nil)
		if got.Code != http.StatusOK || got.Body.String() != string(content) || got.Header().Get("Content-Type") == "" {
			t.Errorf("%s is answered with %d %s", name, got.Code, got.Header().Get("Content-Type"))
		}
	}
}

type answered struct {
	Version string `json:"version"`
	State   State  `json:"state"`
}

func decode(t *testing.T, w *httptest.ResponseRecorder) answered {
	t.Helper()
	var result answered
	if err := json.Unmarshal(w.Body.Bytes(), &result); err != nil {
		t.Fatalf("%v in %d %s", err, w.Code, w.Body)
	}
	return result
}

// TestStateWaits: a page that has the present state gets the next one when there is one, and nothing after a time.
func TestStateWaits(t *testing.T) {
	s := newSource()
	page := newPage(s)
	first := decode(t, get(t, page, "/"+token+"/state?workload=web", nil))
	if first.State.Workload == nil || first.State.Workload.Name != "web" || first.Version == "" {
		t.Fatalf("got %+v", first)
	}

	next := make(chan *httptest.ResponseRecorder, 1)
	go func() { next <- get(t, page, "/"+token+"/state?workload=web&after="+first.Version, nil) }()
	s.set(s.state) // changes that do not show are not sent
	select {
	case <-next:
		t.Fatal("an equal state is sent")
	case <-time.After(50 * time.Millisecond):
	}
	s.set(State{Namespace: "shop", Loaded: true, Omitted: 1})
	if got := decode(t, <-next); got.State.Omitted != 1 || got.Version == first.Version {
		t.Errorf("got %+v", got)
	}

	short := New(Options{Open: s.open, Token: token, Port: "8001", Wait: time.Millisecond})
	present := decode(t, get(t, short, "/"+token+"/state", nil))
	if got := get(t, short, "/"+token+"/state?after="+present.Version, nil); got.Code != http.StatusNoContent || got.Body.Len() > 0 {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
}

// TestStateEnds: a request ends with the command, or when the browser is gone.
func TestStateEnds(t *testing.T) {
	page := newPage(newSource())
	present := decode(t, get(t, page, "/"+token+"/state", nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		get(t, page, "/"+token+"/state?after="+present.Version, func(r *http.Request) { *r = *r.WithContext(ctx) })
	}()
	cancel()
	<-done
}

// TestAnswersEscape: an answer is JSON that no browser takes for markup, whatever a cell has written.
func TestAnswersEscape(t *testing.T) {
	s := newSource()
	s.state.Problem = &Problem{Message: "</script><img src=x onerror=alert(1)>"}
	got := get(t, newPage(s), "/"+token+"/state", nil)
	if got.Header().Get("Content-Type") != typeJSON || strings.Contains(got.Body.String(), "<") {
		t.Errorf("%s: %s", got.Header().Get("Content-Type"), got.Body)
	}
	if decode(t, got).State.Problem.Message != s.state.Problem.Message {
		t.Errorf("the text is changed: %s", got.Body)
	}
	got = get(t, newPage(s), "/"+token+"/instances?first=%3Cb%3E", nil)
	if got.Code != http.StatusOK || strings.Contains(got.Body.String(), "<") {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
	if got = get(t, newPage(s), "/"+token+"/way?instance=web-0", nil); !strings.Contains(got.Body.String(), `"name":"web-0"`) {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
}

// TestReasonsHaveAPage: the address of the reference leads to a page of the repository with a section for each condition.
func TestReasonsHaveAPage(t *testing.T) {
	script, err := assets.ReadFile("assets/dom.js")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`'https://github.com/karmada-compute/karmada-compute/blob/main/(\S+)'`).FindSubmatch(script)
	if found == nil {
		t.Fatal("no address of the reference")
	}
	reference, err := os.ReadFile(filepath.Join("..", "..", string(found[1])))
	if err != nil {
		t.Fatal(err)
	}
	for _, remedy := range reasons.All() {
		for _, condition := range remedy.Conditions {
			if !strings.Contains(string(reference), "\n## "+condition+"\n") {
				t.Errorf("no section for %s, condition %s", remedy.Reason, condition)
			}
		}
	}
}
