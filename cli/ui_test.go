// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/page"
)

// uiPage is a page that a test has started.
type uiPage struct {
	*fixture
	address string
	version string
	// namespace is the chosen one; "": the kubeconfig's.
	namespace string
}

// startUI starts the command. stop ends it as Ctrl-C does, and returns its result.
func (f *fixture) startUI(config *rest.Config) (u *uiPage, stop func() result) {
	f.Helper()
	ctx, interrupt := context.WithCancel(f.Context())
	out, done := &buffer{}, make(chan result, 1)
	go func() { done <- f.call(call{config: config, ctx: ctx, out: out}, "ui") }()
	f.eventually(out, "http://127.0.0.1:")
	return &uiPage{fixture: f, address: strings.TrimSpace(out.String())}, func() result {
		interrupt()
		return <-done
	}
}

// next returns the first state after the last one.
func (u *uiPage) next(workload string) *page.State {
	u.Helper()
	query := url.Values{"workload": {workload}, "after": {u.version}, "namespace": {u.namespace}}
	body := u.get("state?" + query.Encode())
	var got struct {
		Version string     `json:"version"`
		State   page.State `json:"state"`
	}
	if len(body) == 0 {
		return &page.State{}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		u.Fatalf("%v in %s", err, body)
	}
	u.version = got.Version
	return &got.State
}

func (u *uiPage) get(path string) []byte {
	u.Helper()
	r, err := http.NewRequestWithContext(u.Context(), http.MethodGet, u.address+path, http.NoBody)
	if err != nil {
		u.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		u.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 400 {
		u.Fatalf("%s: %d %s %v", path, response.StatusCode, body, err)
	}
	return body
}

// until returns the first state that fits.
func (u *uiPage) until(workload string, fits func(*page.State) bool) *page.State {
	u.Helper()
	late := time.Now().Add(time.Minute)
	for {
		state := u.next(workload)
		if fits(state) {
			return state
		}
		if time.Now().After(late) {
			last, _ := json.Marshal(state)
			u.Fatalf("the state is still %s", last)
		}
	}
}

// TestUI: the page has what list, tree, explain, rollout plan and events show, and follows changes.
func TestUI(t *testing.T) {
	f := newFixture(t)
	w, d := f.scene()
	f.create(&corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web.1"},
		InvolvedObject: corev1.ObjectReference{Kind: "Workload", Namespace: f.Namespace.Name, Name: "web", UID: w.UID},
		Type:           corev1.EventTypeWarning, Reason: "Seen", Message: "an event of web", LastTimestamp: metav1.NewTime(now),
		Source: corev1.EventSource{Component: "karmada-compute"},
	})
	u, stop := f.startUI(f.Config())
	if !strings.HasPrefix(u.address, "http://127.0.0.1:") || len(u.address) < len("http://127.0.0.1:1/")+26 {
		t.Errorf("the address is %s", u.address)
	}

	listed := u.until("", func(s *page.State) bool { return s.Loaded })
	if len(listed.Workloads) != 1 || listed.Workload != nil || listed.Problem != nil || listed.Namespace != f.Namespace.Name {
		t.Fatalf("got %+v", listed)
	}
	if in := listed.Workloads[0].Deployments; len(in) != 1 || in[0].City != "DFW" || in[0].Desired != 2 {
		t.Errorf("the cities are %+v", in)
	}
	u.version = ""
	u.shows(u.next("web").Workload)

	f.instance(d, 2, ready)
	u.until("web", func(s *page.State) bool { return len(s.Workload.Tree.Children[0].Children) == 3 })
	if got := string(u.get("instances?workload=web&first=web-texas-dfw-1")); !strings.Contains(got, "web-texas-dfw-2") {
		t.Errorf("the Instances are %s", got)
	}
	if got := string(u.get("way?workload=web&instance=web-texas-dfw-1")); !strings.Contains(got, `"reason":"QuotaExceeded"`) {
		t.Errorf("the way is %s", got)
	}
	if got := u.next("none").Workload; !got.Gone || !strings.Contains(got.Summary, `"none" not found`) {
		t.Errorf("a Workload that does not exist is %+v", got)
	}
	f.want(stop(), exitInterrupted, "Ctrl-C stops the page")
}

// shows checks the detail of the Workload of the scene.
func (u *uiPage) shows(one *page.Workload) {
	u.Helper()
	if one.Summary != "Workload web: 1 of 2 Instances are Ready." || len(one.Tree.Children) != 1 || len(one.Tree.Children[0].Children) != 2 {
		u.Errorf("got %+v", one)
	}
	if len(one.Verdicts) != 1 || one.Verdicts[0].Stop.Finding.Reason != v1alpha.ReasonQuotaExceeded || one.Verdicts[0].Stop.Finding.Do == "" {
		u.Errorf("the verdicts are %+v", one.Verdicts)
	}
	if one.Rollout == nil || len(one.Rollout.Cities) != 1 || one.Rollout.Cities[0].Instances != 2 {
		u.Errorf("the rollout is %+v, %s", one.Rollout, one.NoRollout)
	}
	if len(one.Events) != 1 || one.Events[0].Object != "workload/web" || one.Events[0].Message != "an event of web" {
		u.Errorf("the events are %+v", one.Events)
	}
}

// TestUIWithoutRights: what the user may not read is left out and named; without any right the page has the refusal.
func TestUIWithoutRights(t *testing.T) {
	f := newFixture(t)
	f.scene()
	u, stop := f.startUI(f.user(may(read, "workloads", "workloaddeployments")))
	state := u.until("web", func(s *page.State) bool { return s.Loaded })
	if hidden := strings.Join(state.Hidden, ", "); hidden != "events of the project, instances" || len(state.Workloads) != 1 {
		t.Errorf("left out: %s; %+v", hidden, state)
	}
	stop()

	u, stop = f.startUI(f.user())
	state = u.until("", func(s *page.State) bool { return s.Problem != nil })
	if !strings.Contains(state.Problem.Message, "forbidden") || !strings.Contains(state.Problem.Do, "role") {
		t.Errorf("got %+v", state.Problem)
	}
	stop()
}

// TestUIRecovers: while the API server refuses the credential, or is unreachable, the page keeps the last state and has
// the action, and it continues by itself; also with another kubeconfig.
func TestUIRecovers(t *testing.T) {
	f := newFixture(t)
	f.scene()
	target, err := url.Parse(f.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(f.Config())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	var refuse atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse.Load() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized",`+
				`"reason":"Unauthorized","code":401}`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()

	refuse.Store(true)
	u, stop := f.startUI(&rest.Config{Host: server.URL})
	defer stop()
	expired := func(s *page.State) bool { return s.Problem != nil }
	first := u.until("", expired)
	if first.Loaded || !strings.Contains(first.Problem.Message, "expired") || !strings.Contains(first.Problem.Do, "Sign in again") {
		t.Errorf("got %+v", first.Problem)
	}
	refuse.Store(false)
	recovered := func(s *page.State) bool { return s.Problem == nil && s.Workload != nil }
	u.until("web", recovered)
	refuse.Store(true)
	if state := u.until("web", expired); state.Workload == nil || state.Workload.Summary == "" || !state.Loaded {
		t.Errorf("the last state is not shown: %+v", state)
	}
	refuse.Store(false)
	u.until("web", recovered)
	server.CloseClientConnections()
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	unreached := u.until("web", expired).Problem
	if !strings.Contains(unreached.Message, "refused") || !strings.Contains(unreached.Do, "network") {
		t.Errorf("got %+v", unreached)
	}
}

// TestUnread: a kubeconfig that has changed is read again, with all flags of the user.
func TestUnread(t *testing.T) {
	f := newFixture(t)
	path := f.kubeconfig(&rest.Config{Host: "https://first.example"})
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &path
	user := "somebody"
	flags.Impersonate = &user
	if config, err := flags.ToRESTConfig(); err != nil || config.Host != "https://first.example" {
		t.Fatal(config, err)
	}
	other, err := os.ReadFile(f.kubeconfig(&rest.Config{Host: "https://second.example"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := command.New(Options{Flags: flags, Clock: clock.RealClock{}}).Reconnect()
	if err != nil {
		t.Fatal(err)
	}
	if config := s.Project.Config; config.Host != "https://second.example" || config.Impersonate.UserName != user {
		t.Errorf("got %+v", config)
	}
}

// TestUIPort: a port that is taken is named with what to do.
func TestUIPort(t *testing.T) {
	f := newFixture(t)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	f.want(f.kubectl(f.Config(), "ui", "--port", strings.TrimPrefix(server.URL, "http://127.0.0.1:")), 1, "--port", "choose another port")
	f.want(f.kubectl(f.Config(), "ui", "--port", "-1"), 1, "--port")
}
