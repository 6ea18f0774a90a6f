// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/flood"
)

// withHung is the one project of a test, and another one that never answers.
type withHung struct {
	*project
	// asked counts requests for it.
	asked *atomic.Int64
}

const hungProject = "hung"

// Client waits for the project that never answers.
func (p withHung) Client(ctx context.Context, name string, uid types.UID) (client.Client, error) {
	if name != hungProject {
		return p.project.Client(ctx, name, uid)
	}
	p.asked.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

// grantLike admits, and grants, a session that no project stores.
func (f *fixture) grantLike(t *testing.T, grant *Grant, n int, change func(*Grant)) {
	t.Helper()
	other := *grant
	other.UID, other.Name = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)), fmt.Sprintf("never-%d", n)
	change(&other)
	for _, do := range []func(context.Context, *Grant) error{f.admission.Grant, f.server.options.Grants.Record} {
		if err := do(t.Context(), &other); err != nil {
			t.Fatal(err)
		}
	}
}

// soon is the time within which a session must be announced, whatever other clients do. The machine may be busy.
const soon = 5 * time.Second

// TestNeighbours verifies that grants that no session follows, and the sessions of a project that does not answer,
// delay neither the announcement of another session nor the deletion of an expired one.
func TestNeighbours(t *testing.T) {
	for name, change := range map[string]func(*Grant){
		"grants without a session":         func(*Grant) {},
		"a project that does not answer":   func(g *Grant) { g.Project, g.ProjectUID = hungProject, "hung-uid" },
		"many projects that do not answer": func(g *Grant) { g.Project, g.ProjectUID = hungProject, types.UID("hung-"+g.Name) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := &atomic.Int64{}
			f := newFixture(t, endless, func(o *Options) {
				o.Grants.Limits = Limits{PerUser: 100, PerProject: 100, Streams: 10}
				o.Projects = withHung{o.Projects.(*project), asked}
			})
			f.runAdmission(t)
			key := newKey(t)
			expired, grant := f.create(t, key)
			f.await(t, expired, v1alpha.ReasonSessionReady)
			for n := range 40 {
				f.grantLike(t, grant, n, change)
			}
			began := time.Now()
			session := f.admit(t, key)
			f.await(t, session, v1alpha.ReasonSessionReady)
			if took := time.Since(began); took > soon {
				t.Errorf("the session was announced after %s", took)
			}
			f.expire(t, grant, -time.Second)
			f.server.tasks.retain(nil)
			began = time.Now()
			if err := f.server.sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.eventually(t, "the expired session is deleted", func() bool {
				return client.IgnoreNotFound(f.Client.Get(t.Context(), client.ObjectKeyFromObject(expired), expired)) == nil && expired.UID == "" ||
					f.Client.Get(t.Context(), client.ObjectKeyFromObject(expired), &v1alpha.InstanceSession{}) != nil
			})
			if took := time.Since(began); took > soon {
				t.Errorf("the expired session was deleted after %s", took)
			}
			if strings.Contains(name, "answer") && asked.Load() == 0 {
				t.Error("the project was not asked")
			}
		})
	}
}

// as lets another user have a session.
func (f *fixture) as(t *testing.T, user string, key *ecdsa.PrivateKey, change func(*v1alpha.InstanceSessionSpec)) *Grant {
	t.Helper()
	session, grant := f.create(t, key, change)
	grant.User.Username = user
	stored := &corev1.ConfigMap{}
	at := client.ObjectKey{Namespace: f.server.options.Grants.Namespace, Name: grantName(session.UID)}
	if err := f.Client.Get(t.Context(), at, stored); err != nil {
		t.Fatal(err)
	}
	stored.Data[dataGrant] = strings.Replace(stored.Data[dataGrant], `"username":"consumer"`, `"username":"`+user+`"`, 1)
	if err := f.Client.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	return grant
}

// TestSharesOfStreams verifies that one user and one project leave streams of a replica to others.
func TestSharesOfStreams(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(follow), func(o *Options) { o.Grants.Limits.Streams = 10 })
	key := newKey(t)
	for n, c := range []struct {
		user string
		want int
		text string
	}{
		{"first", http.StatusOK, ""},
		{"first", http.StatusOK, ""},
		{"first", http.StatusServiceUnavailable, "the most of a user"},
		{"second", http.StatusOK, ""},
		{"second", http.StatusOK, ""},
		{"third", http.StatusOK, ""},
		{"third", http.StatusServiceUnavailable, "the most of a project"},
	} {
		response := f.get(t, f.addressOf(f.as(t, c.user, key, followed)), key)
		if response.StatusCode != c.want {
			t.Fatalf("stream %d of user %s: %d", n, c.user, response.StatusCode)
		}
		if c.text != "" && !strings.Contains(readAll(t, response), c.text) {
			t.Errorf("stream %d is not refused with %q", n, c.text)
		}
	}
}

// TestRateOfASession verifies that one session does not keep a replica busy with requests, nor its project with changes
// of its status.
func TestRateOfASession(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "line") }))
	key := newKey(t)
	session, grant := f.create(t, key)
	f.await(t, session, v1alpha.ReasonSessionReady)
	watch, err := f.Client.Watch(t.Context(), &v1alpha.InstanceSessionList{}, client.InNamespace(session.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[int]int{}
	for range requestsAtOnce + 40 {
		response := f.get(t, f.addressOf(grant), key)
		_ = readAll(t, response)
		answers[response.StatusCode]++
	}
	if answers[http.StatusServiceUnavailable] == 0 || answers[http.StatusOK] < requestsAtOnce/2 {
		t.Errorf("the answers are %v", answers)
	}
	f.stop()
	last := f.await(t, session, v1alpha.ReasonSessionCompleted)
	changes := 0
	for event := range watch.ResultChan() {
		changes++
		if now, ok := event.Object.(*v1alpha.InstanceSession); ok && now.ResourceVersion == last.ResourceVersion {
			watch.Stop()
		}
	}
	// One is the replica's last.
	if changes > showAtOnce+3 {
		t.Errorf("%d requests changed the status %d times", requestsAtOnce+40, changes)
	}
}

// TestOwnContainersAndPorts verifies that a session reaches the containers and ports of the template, and none that a
// cell has injected.
func TestOwnContainersAndPorts(t *testing.T) {
	t.Parallel()
	containers := make(chan string, 10)
	f := newFixture(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { containers <- r.URL.Query().Get("container") }))
	f.declarePorts(t, 8080)
	key := newKey(t)
	reach := func(change func(*v1alpha.InstanceSessionSpec)) (*http.Response, string) {
		session, grant := f.create(t, key, change)
		response, _ := f.dialWith(t, f.addressOf(grant)+"?port=15020", key, upgradeOf(grant))
		if response.StatusCode == http.StatusOK {
			return response, ""
		}
		ended := f.await(t, session, v1alpha.ReasonSessionFailed)
		return response, meta.FindStatusCondition(ended.Status.Conditions, v1alpha.ConditionReady).Message
	}
	logs := func(container string) func(*v1alpha.InstanceSessionSpec) {
		return func(s *v1alpha.InstanceSessionSpec) { s.ContainerName = container }
	}
	if response, _ := reach(logs("")); response.StatusCode != http.StatusOK || <-containers != "app" {
		t.Errorf("without a name: %d", response.StatusCode)
	}
	for name, change := range map[string]func(*v1alpha.InstanceSessionSpec){
		"an injected container": logs("istio-proxy"),
		"a command in it":       func(s *v1alpha.InstanceSessionSpec) { exec(s); s.ContainerName = "istio-proxy" },
		"its port": func(s *v1alpha.InstanceSessionSpec) {
			s.Type, s.Ports = v1alpha.SessionPortForward, []int32{8080, 15020}
		},
	} {
		if response, message := reach(change); response.StatusCode != http.StatusGone || !strings.Contains(message, "the Instance has no") {
			t.Errorf("%s: %d, %q", name, response.StatusCode, message)
		}
	}
	f.declare(t, func(sandbox *v1alpha.SandboxRuntime) {
		sandbox.InitContainers = []v1alpha.SandboxContainer{{Name: "migrate", Image: "app:1"}}
		sandbox.Containers = append(sandbox.Containers, v1alpha.SandboxContainer{Name: "second", Image: "app:1"})
	})
	if _, message := reach(logs("")); !strings.Contains(message, "app, second, migrate") {
		t.Errorf("without a name of several: %q", message)
	}
	for _, own := range []string{"second", "migrate"} {
		if response, _ := reach(logs(own)); response.StatusCode != http.StatusOK || <-containers != own {
			t.Errorf("%s: %d", own, response.StatusCode)
		}
	}
	if len(containers) > 0 {
		t.Errorf("the cell was asked for container %q", <-containers)
	}
}

// TestRedirect verifies that a client neither gets a redirect of a cell nor any other header that is not of the stream.
func TestRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r.URL.Path }))
	t.Cleanup(other.Close)
	redirects := true
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Warning", "299 - \"read me\"")
		w.Header().Set("Set-Cookie", "a=b")
		if redirects {
			http.Redirect(w, r, other.URL+"/stolen", http.StatusTemporaryRedirect)
		}
	}))
	key := newKey(t)
	session, grant := f.create(t, key)
	response := f.get(t, f.addressOf(grant), key)
	if body := readAll(t, response); response.StatusCode != http.StatusBadGateway ||
		!strings.Contains(body, "not followed") || strings.Contains(body, other.URL) {
		t.Errorf("the client gets %d, %q", response.StatusCode, body)
	}
	f.await(t, session, v1alpha.ReasonSessionFailed)
	redirects = false
	second := f.get(t, f.addressOf(grant), key)
	for _, answer := range []*http.Response{response, second} {
		for _, header := range []string{"Location", "Warning", "Set-Cookie"} {
			if answer.Header.Get(header) != "" {
				t.Errorf("the client gets header %s: %q", header, answer.Header.Get(header))
			}
		}
	}
}

// TestNotUsedUp verifies that a session for one command is not used up by an attempt that its cell has refused, and is
// by one that has begun.
func TestNotUsedUp(t *testing.T) {
	t.Parallel()
	refuses := atomic.Bool{}
	refuses.Store(true)
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() {
			http.Error(w, "the container is not created yet", http.StatusBadRequest)
			return
		}
		echo(w, r)
	}))
	key := newKey(t)
	session, grant := f.create(t, key, exec)
	if response := f.upgrade(t, f.addressOf(grant), key); response.StatusCode != http.StatusBadRequest {
		t.Fatalf("the first attempt: %d", response.StatusCode)
	}
	f.await(t, session, v1alpha.ReasonSessionFailed)
	refuses.Store(false)
	if response := f.upgrade(t, f.addressOf(grant), key); response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the second attempt: %d", response.StatusCode)
	}
	f.await(t, session, v1alpha.ReasonSessionConnected)
	if response := f.upgrade(t, f.addressOf(grant), key); response.StatusCode != http.StatusNotFound {
		t.Errorf("the third attempt: %d", response.StatusCode)
	}
}

// TestFlood verifies that clients without a key hold no more than their share of connections, and that clients with a
// key hold none that is no stream, while a healthy session is served.
func TestFlood(t *testing.T) {
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "line") }))
	key := newKey(t)
	address := strings.TrimPrefix(f.url, "https://")
	request := func() error {
		// Each session may be requested some times at once.
		_, grant := f.create(t, key)
		response := f.get(t, f.addressOf(grant), key)
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d: %w", response.StatusCode, err)
		}
		return nil
	}
	f.server.options.Grants.Limits = Limits{PerUser: 1000, PerProject: 1000, Streams: 100}
	before, _ := flood.Latency(t, 10, request)
	for name, options := range map[string]flood.Options{
		"connections": {}, "handshakes": {Connections: 600, Secured: true},
	} {
		held := flood.Hold(t, address, options)
		held.AwaitAlive(t, f.server.bounds().PerSource, 15*time.Second)
		median, longest := flood.Latency(t, 10, request)
		t.Logf("%s: %d were opened, %d are open; a log takes %s (%s before), at most %s", name, held.Held(), held.Alive(),
			median, before, longest)
		if longest > soon {
			t.Errorf("%s: a log takes up to %s", name, longest)
		}
	}
	// The client of a session sends what is no stream, and waits.
	_, grant := f.create(t, key)
	response, connection := f.dialWith(t, f.addressOf(grant), key, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}})
	if response.StatusCode != http.StatusBadRequest {
		t.Fatalf("the answer is %d", response.StatusCode)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, connection)
	}()
	select {
	case <-closed:
	case <-time.After(soon):
		t.Error("a connection that is no stream stays open")
	}
}

// TestUnknownSessions verifies that the hub is not asked for each made-up UID.
func TestUnknownSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, endless)
	key := newKey(t)
	answers := map[int]int{}
	for n := range 100 {
		address := fmt.Sprintf("%s%snorth/default/logs/00000000-0000-4000-8000-%012d", f.url, PathPrefix, n)
		answers[f.get(t, address, key).StatusCode]++
	}
	if answers[http.StatusServiceUnavailable] < 30 || answers[http.StatusNotFound] == 0 {
		t.Errorf("the answers are %v", answers)
	}
}
