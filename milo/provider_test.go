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
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func newTestProvider(t *testing.T) *Provider {
	t.Helper()
	return newTestProviderWith(t, func(*ProviderOptions) {})
}

func newTestProviderWith(t *testing.T, change func(*ProviderOptions)) *Provider {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(serveLocationBindings))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	options := ProviderOptions{
		Root: &rest.Config{Host: server.URL}, Scheme: scheme, Shards: 4, Log: logr.Discard(), Kinds: []client.Object{&LocationBinding{}},
	}
	change(&options)
	provider, err := NewProvider(options)
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

// serveLocationBindings simulates control planes without LocationBindings. The control plane of project "hanging" never
// answers.
func serveLocationBindings(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "/projects/hanging/") {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		fmt.Fprint(w, `{"apiVersion":"networking.datumapis.com/v1alpha","kind":"LocationBindingList","metadata":{"resourceVersion":"1"},"items":[]}`)
		return
	}
	if r.URL.Query().Get("sendInitialEvents") != "" {
		// As an API server without streaming lists: the client lists and then watches.
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Invalid","code":422}`)
		return
	}
	w.WriteHeader(http.StatusOK)
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
	<-r.Context().Done()
}

func readyProject(name, uid string) *Project {
	project := &Project{}
	project.Name = name
	project.UID = types.UID(uid)
	project.Status.Conditions = []metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionTrue}}
	return project
}

func isEngaged(p *Provider, project string) bool {
	_, err := p.Get(context.Background(), multicluster.ClusterName(project))
	return err == nil
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return check(), nil
	}); err != nil {
		t.Fatalf("not in time: %s", what)
	}
}

func TestProjectsFollowTheirShard(t *testing.T) {
	p := newTestProvider(t)
	const project = "north"
	shard := naming.ProjectKey(project).Shard(4)
	p.Observe(readyProject(project, "1"))
	if isEngaged(p, project) {
		t.Fatal("engaged a project of a shard that another replica has")
	}
	owned, lose := context.WithCancel(t.Context())
	p.own(owned, shard)
	eventually(t, "engaged", func() bool { return isEngaged(p, project) })
	lose()
	eventually(t, "let go", func() bool { return !isEngaged(p, project) })
	p.own(t.Context(), shard)
	eventually(t, "engaged again", func() bool { return isEngaged(p, project) })
	p.Forget(readyProject(project, "1"))
	if isEngaged(p, project) {
		t.Error("a project that is gone is still engaged")
	}
	if _, err := p.Get(t.Context(), project); !errors.Is(err, multicluster.ErrClusterNotFound) {
		t.Errorf("error is %v", err)
	}
}

func TestRecreatedProjectIsAnother(t *testing.T) {
	p := newTestProvider(t)
	p.own(t.Context(), naming.ProjectKey("north").Shard(4))
	p.Observe(readyProject("north", "1"))
	eventually(t, "engaged", func() bool { return isEngaged(p, "north") })
	before, err := p.Get(t.Context(), "north")
	if err != nil {
		t.Fatal(err)
	}
	p.Observe(readyProject("north", "2"))
	eventually(t, "engaged with another cluster", func() bool {
		after, err := p.Get(t.Context(), "north")
		return err == nil && after != before
	})
	if uid, err := p.UID("north"); err != nil || uid != "2" {
		t.Errorf("UID is %s, %v", uid, err)
	}
}

func TestProjectThatIsNotReadyIsLeftAlone(t *testing.T) {
	p := newTestProvider(t)
	p.own(t.Context(), naming.ProjectKey("north").Shard(4))
	project := readyProject("north", "1")
	project.Status.Conditions = nil
	p.Observe(project)
	if _, err := p.UID("north"); err == nil {
		t.Error("a project without a control plane was touched")
	}
}

// TestHangingProjectDelaysNoOther: the informers of one project never sync, and all others are engaged.
func TestHangingProjectDelaysNoOther(t *testing.T) {
	p := newTestProvider(t)
	for shard := range 4 {
		p.own(t.Context(), shard)
	}
	p.Observe(readyProject("hanging", "1"))
	for i := range 50 {
		p.Observe(readyProject(fmt.Sprintf("project-%d", i), "1"))
	}
	for i := range 50 {
		eventually(t, "the others are engaged", func() bool { return isEngaged(p, fmt.Sprintf("project-%d", i)) })
	}
	if isEngaged(p, "hanging") {
		t.Error("a project was engaged before its informers had synced")
	}
}

func TestShardsAreUsedEvenly(t *testing.T) {
	counts := map[int]int{}
	for i := range 16000 {
		counts[naming.ProjectKey(fmt.Sprintf("project-%d", i)).Shard(16)]++
	}
	for shard, count := range counts {
		if count < 500 || count > 1500 {
			t.Errorf("shard %d has %d of 16000 projects", shard, count)
		}
	}
	if len(counts) != 16 {
		t.Errorf("%d shards are used", len(counts))
	}
}

func TestProjectConfig(t *testing.T) {
	for root, want := range map[string]string{
		"https://milo.example.com": "https://milo.example.com/apis/resourcemanager.miloapis.com/v1alpha1/projects/north/control-plane/",
		"https://milo.example.com/base/": "https://milo.example.com/base/" +
			"apis/resourcemanager.miloapis.com/v1alpha1/projects/north/control-plane/",
	} {
		config, err := ProjectConfig(&rest.Config{Host: root}, "north")
		if err != nil || config.Host != want {
			t.Errorf("address of a project under %s is %s, %v, want %s", root, config.Host, err, want)
		}
	}
	if _, err := ProjectConfig(&rest.Config{Host: "milo"}, "north"); err == nil {
		t.Error("an address that is no URL passed")
	}
}

func TestAvailableCityCodes(t *testing.T) {
	binding := func(city string, status metav1.ConditionStatus) LocationBinding {
		b := LocationBinding{Spec: LocationBindingSpec{Topology: map[string]string{LabelCity: city}}}
		b.Status.Conditions = []metav1.Condition{{Type: ConditionAvailable, Status: status}}
		return b
	}
	got := cities.AvailableCities(locationsOf([]LocationBinding{
		binding("ord", "True"), binding("DFW", "True"), binding("dfw", "True"), binding("LHR", "False"), binding("", "True"), {},
	}))
	if fmt.Sprint(got) != "[DFW ORD]" {
		t.Errorf("got %v", got)
	}
}

// TestLookupOfExistence: only an API server's answer proves that a project does not exist.
func TestLookupOfExistence(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/projects/north"):
			fmt.Fprint(w, `{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":"north","uid":"2"}}`)
		case strings.HasSuffix(r.URL.Path, "/projects/gone"):
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404}`)
		default:
			// A gateway without a route to Milo.
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	p := newTestProvider(t)
	root, err := newRootClient(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	p.root = root
	for name, want := range map[string]struct {
		uid   types.UID
		found bool
		err   bool
	}{"north": {"2", true, false}, "gone": {}, "misrouted": {err: true}} {
		if uid, found, err := p.Lookup(t.Context(), name); uid != want.uid || found != want.found || (err != nil) != want.err {
			t.Errorf("%s: %q, %t, %v", name, uid, found, err)
		}
	}
}

// TestIdentity is the UID of Milo's namespace default.
func TestIdentity(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/base/api/v1/namespaces/default" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default","uid":"7"}}`)
	}))
	t.Cleanup(s.Close)
	scheme := runtime.NewScheme()
	if err := errors.Join(AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]types.UID{s.URL + "/base": "7", s.URL: ""} {
		p, err := NewProvider(ProviderOptions{Root: &rest.Config{Host: host}, Scheme: scheme, Shards: 1})
		if err != nil {
			t.Fatal(err)
		}
		if uid, err := p.Identity(t.Context()); uid != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", host, uid, err)
		}
	}
}

// TestExistence: ownership does not depend on existence, and changes are reported.
func TestExistence(t *testing.T) {
	p := newTestProvider(t)
	var changes []string
	p.OnChange(func(project string) { changes = append(changes, project) })
	is := func(when string, owned bool, known types.UID) {
		t.Helper()
		if p.Owns("north") != owned {
			t.Errorf("%s it is owned: %t", when, !owned)
		}
		for _, uid := range []types.UID{"", "1", "2"} {
			if got := p.Knows("north", uid); got != (uid == known && uid != "") {
				t.Errorf("%s UID %q is known: %t", when, uid, got)
			}
		}
	}
	p.Observe(readyProject("north", "1"))
	is("without its shard", false, "1")
	ctx, lose := context.WithCancel(t.Context())
	p.own(ctx, naming.ProjectKey("north").Shard(4))
	p.Observe(readyProject("north", "1"))
	is("with its shard", true, "1")
	p.Observe(readyProject("north", "2"))
	is("made again", true, "2")
	p.Forget(readyProject("north", "2"))
	is("gone", true, "")
	if fmt.Sprint(changes) != "[ north north]" {
		t.Errorf("changes are %q", changes)
	}
	lose()
	is("after its shard was lost", false, "")
}

// TestLocations: a location has the name of spec.locationRef, and is not available while its binding is being deleted.
func TestLocations(t *testing.T) {
	now := metav1.Now()
	bindings := []LocationBinding{{}, {}}
	for i := range bindings {
		bindings[i].Name = fmt.Sprintf("binding-%d", i)
		bindings[i].Spec.Topology = map[string]string{LabelCity: "dfw", "topology.datum.net/region": "us"}
		bindings[i].Status.Conditions = []metav1.Condition{{Type: ConditionAvailable, Status: metav1.ConditionTrue}}
	}
	bindings[0].Spec.LocationRef.Name = "dfw-1"
	bindings[1].DeletionTimestamp = &now
	got := locationsOf(bindings)
	if got[1].Name != "dfw-1" || !got[1].Available || got[1].City != "DFW" || got[1].Topology["topology.datum.net/region"] != "us" ||
		got[0].Name != "binding-1" || got[0].Available {
		t.Errorf("got %+v", got)
	}
}
