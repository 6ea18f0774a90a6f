// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/milo/marks"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// lazily is a hub, a Milo, and replicas that engage only the projects with Workloads.
type lazily struct {
	t         *testing.T
	planes    *controlPlanes
	root      string
	hub       client.Client
	namespace string
	// admission is another replica, which only answers admission.
	admission *marks.Marks
	brake     brake
}

// brake decides as hub/ownership does: it holds while it has a reason.
type brake struct {
	milo   *Provider
	reason atomic.Value
	asked  atomic.Int32
}

func (b *brake) IsGone(ctx context.Context, project string) (bool, error) {
	if _, found, err := b.milo.Lookup(ctx, project); err != nil || found {
		return false, err
	}
	b.asked.Add(1)
	reason, _ := b.reason.Load().(string)
	return reason == "", nil
}

func newLazily(t *testing.T) *lazily {
	t.Helper()
	l := &lazily{t: t, hub: newHubClient(t), namespace: hubNamespace(t)}
	l.planes, l.root = newControlPlanes(t)
	l.admission = l.startMarks()
	return l
}

func (l *lazily) startMarks() *marks.Marks {
	l.t.Helper()
	m, err := marks.New(marks.Options{
		Hub: testenv.Config(l.t), Namespace: l.namespace, Clock: clock.RealClock{}, Registerer: prometheus.NewRegistry(), Log: logr.Discard(),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	run(l.t, m.Start)
	return m
}

// run runs a function until the test ends.
func run(t *testing.T, start func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := start(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
}

// replica starts a replica that owns all shards.
func (l *lazily) replica(change func(*ProviderOptions)) *Provider {
	l.t.Helper()
	p := l.spare(change)
	for shard := range 4 {
		p.own(l.t.Context(), shard)
	}
	return p
}

// spare starts a replica without shards.
func (l *lazily) spare(change func(*ProviderOptions)) *Provider {
	l.t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(AddToScheme(scheme), v1alpha.AddToScheme(scheme)); err != nil {
		l.t.Fatal(err)
	}
	o := ProviderOptions{
		Root: &rest.Config{Host: l.root, QPS: -1}, Scheme: scheme, Shards: 4, Log: logr.Discard(),
		Kinds: []client.Object{&v1alpha.Workload{}, &LocationBinding{}}, Using: []client.Object{&v1alpha.Workload{}},
		IdleAfter: time.Hour, Marks: l.startMarks(),
	}
	if change != nil {
		change(&o)
	}
	p, err := NewProvider(o)
	if err != nil {
		l.t.Fatal(err)
	}
	p.leaveAfter = 200 * time.Millisecond
	l.brake.milo = p
	p.SetOwners(&l.brake)
	run(l.t, func(ctx context.Context) error { return p.Start(ctx, nil) })
	return p
}

// mark reads the mark of a project.
func (l *lazily) mark(project string) (isLeaving, exists bool) {
	l.t.Helper()
	found := &corev1.ConfigMap{}
	err := l.hub.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: naming.ProjectMarkName(project)}, found)
	if err != nil && !apierrors.IsNotFound(err) {
		l.t.Fatal(err)
	}
	return found.Annotations[v1alpha.AnnotationLeaving] != "", err == nil
}

func soonIdle(o *ProviderOptions) { o.IdleAfter = 300 * time.Millisecond }

// TestProjectWithoutWorkloadsCostsNothing: no request is sent to it, until admission on another replica marks it. The
// other projects stay as they are.
func TestProjectWithoutWorkloadsCostsNothing(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	p := l.replica(nil)
	for _, project := range []string{"north", "south"} {
		p.Observe(readyProject(project, "1"))
	}
	l.admission.Mark(t.Context(), "north")
	eventually(t, "the marked project is engaged", func() bool { return isEngaged(p, "north") })
	if requests, _ := l.planes.asked("south"); requests > 0 || isEngaged(p, "south") {
		t.Errorf("%d requests to a project without Workloads", requests)
	}
	// Another replica knows the same without a request to any project, in whatever order it hears of things.
	before, _ := l.planes.asked("north")
	successor := l.spare(nil)
	successor.Observe(readyProject("south", "1"))
	successor.Observe(readyProject("north", "1"))
	eventually(t, "the mark is known", func() bool { return successor.options.Marks.Needed("north") })
	if after, _ := l.planes.asked("north"); after != before {
		t.Errorf("a replica that does not own the project has sent %d requests", after-before)
	}
	for shard := range 4 {
		successor.own(t.Context(), shard)
	}
	eventually(t, "the successor engages it", func() bool { return isEngaged(successor, "north") })
	if requests, _ := l.planes.asked("south"); requests > 0 {
		t.Errorf("%d requests to a project without Workloads", requests)
	}
}

// TestProjectIsLetGo: some time after its last Workload, with its mark and its watches. It is engaged again at its next
// one.
func TestProjectIsLetGo(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	p := l.replica(soonIdle)
	p.Observe(readyProject("north", "1"))
	for range 2 {
		l.admission.Mark(t.Context(), "north")
		l.planes.change("north", "web", true)
		eventually(t, "engaged", func() bool { return isEngaged(p, "north") })
		l.planes.change("north", "web", false)
		eventually(t, "let go", func() bool { return !isEngaged(p, "north") })
		if _, exists := l.mark("north"); exists {
			t.Error("its mark is left")
		}
		eventually(t, "no watch is left", func() bool { _, watches := l.planes.asked("north"); return watches == 0 })
		// As admission on the other replica has seen it.
		eventually(t, "the mark is gone everywhere", func() bool { return !l.admission.Needed("north") })
	}
}

// TestProjectInUseStaysEngaged: it has a mark, whoever deletes that.
func TestProjectInUseStaysEngaged(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	p := l.replica(soonIdle)
	p.Observe(readyProject("north", "1"))
	l.planes.change("north", "web", true)
	p.Wake("north")
	eventually(t, "it has a mark", func() bool { _, exists := l.mark("north"); return exists })
	deleted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: naming.ProjectMarkName("north")}}
	if err := l.hub.Delete(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has a mark again", func() bool { _, exists := l.mark("north"); return exists })
	if !isEngaged(p, "north") {
		t.Error("a project with a Workload was let go")
	}
}

// TestWorkloadWhileLeaving: a Workload admitted while its project is about to be released keeps the project engaged,
// even if the project's watch reports nothing.
func TestWorkloadWhileLeaving(t *testing.T) {
	t.Parallel()
	for name, admit := range map[string]func(*lazily){
		"seen by the question at the end": func(l *lazily) { l.planes.change("north", "web", true) },
		// It has been admitted and is not stored yet.
		"announced by admission": func(l *lazily) {
			eventually(l.t, "admission sees it", func() bool { isLeaving, _ := l.mark("north"); return isLeaving })
			l.admission.Mark(l.t.Context(), "north")
			l.planes.change("north", "web", true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLazily(t)
			p := l.replica(soonIdle)
			p.leaveAfter = 2 * time.Second
			p.Observe(readyProject("north", "1"))
			l.admission.Mark(t.Context(), "north")
			eventually(t, "engaged", func() bool { return isEngaged(p, "north") })
			l.planes.set(func() { l.planes.deaf = true })
			eventually(t, "it is about to be let go", func() bool { isLeaving, _ := l.mark("north"); return isLeaving })
			admit(l)
			eventually(t, "it stays", func() bool { isLeaving, exists := l.mark("north"); return exists && !isLeaving })
			if !isEngaged(p, "north") {
				t.Error("a project with a Workload was let go")
			}
		})
	}
}

// TestMarkWithTheNoteIsNotRemoved: a mark that was written again after its owner noted that it is leaving stays.
func TestMarkWithTheNoteIsNotRemoved(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	l.admission.Mark(t.Context(), "north")
	owner := l.startMarks()
	version, err := owner.Leave(t.Context(), "north")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "admission sees the note", func() bool {
		l.admission.Mark(t.Context(), "north")
		isLeaving, _ := l.mark("north")
		return !isLeaving
	})
	if removed, err := owner.Remove(t.Context(), "north", version); removed || err != nil {
		t.Errorf("removed: %t, %v", removed, err)
	}
	if _, exists := l.mark("north"); !exists {
		t.Error("the mark is gone")
	}
}

// held is an object on the hub other than a mark.
type held struct{ project atomic.Pointer[string] }

func (h *held) Needed(project string) bool {
	found := h.project.Load()
	return found != nil && *found == project
}
func (*held) HasSynced() bool               { return true }
func (*held) OnChange(func(project string)) {}
func (h *held) hold(project string)         { h.project.Store(&project) }

// TestWhatIsOnTheHubHoldsAProject: without a mark and without Workloads.
func TestWhatIsOnTheHubHoldsAProject(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	p := l.spare(soonIdle)
	hub := &held{}
	hub.hold("north")
	p.AddNeeds(hub)
	p.Observe(readyProject("north", "1"))
	p.Observe(readyProject("south", "1"))
	for shard := range 4 {
		p.own(t.Context(), shard)
	}
	p.Wake("south")
	eventually(t, "both are engaged", func() bool { return isEngaged(p, "north") && isEngaged(p, "south") })
	eventually(t, "the other is let go", func() bool { return !isEngaged(p, "south") })
	if !isEngaged(p, "north") {
		t.Error("a project with something on the hub was let go")
	}
	hub.hold("nothing")
	eventually(t, "it is let go", func() bool { return !isEngaged(p, "north") })
}

// TestSweepFindsWorkloads: the sweep finds the Workloads of a project whose mark was lost. A project without Workloads
// is visited and not watched.
func TestSweepFindsWorkloads(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	l.planes.change("north", "web", true)
	var visited atomic.Int32
	p := l.spare(func(o *ProviderOptions) { o.Sweep = 400 * time.Millisecond })
	p.OnVisit(func(_ context.Context, project string, _ client.Client) error {
		if project == "south" {
			visited.Add(1)
		}
		return nil
	})
	for shard := range 4 {
		p.own(t.Context(), shard)
	}
	p.Observe(readyProject("north", "1"))
	p.Observe(readyProject("south", "1"))
	eventually(t, "found", func() bool { return isEngaged(p, "north") })
	eventually(t, "marked", func() bool { _, exists := l.mark("north"); return exists })
	eventually(t, "visited again and again", func() bool { return visited.Load() > 2 })
	if requests, watches := l.planes.asked("south"); watches > 0 || isEngaged(p, "south") || requests > int(visited.Load())+1 {
		t.Errorf("%d watches of a project without Workloads, %d requests at %d visits", watches, requests, visited.Load())
	}
}

// TestNewProjectIsVisited: a new project is visited at once, and all projects on request. A quiet project is visited,
// and nothing is written there.
func TestNewProjectIsVisited(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	visits := make(chan string, 10)
	p := l.spare(func(o *ProviderOptions) { o.Sweep = 1000 * time.Hour })
	p.OnVisit(func(_ context.Context, project string, _ client.Client) error { visits <- project; return nil })
	for shard := range 4 {
		p.own(t.Context(), shard)
	}
	created, quiet := readyProject("new", "1"), readyProject("quiet", "1")
	for _, project := range []*Project{created, quiet} {
		project.CreationTimestamp = metav1.Now()
	}
	quiet.DeletionTimestamp = new(metav1.Now())
	p.Observe(readyProject("old", "1"))
	p.Observe(quiet)
	p.Observe(created)
	if project := <-visits; project != "new" {
		t.Errorf("%s was visited", project)
	}
	eventually(t, "the quiet one is asked", func() bool { requests, _ := l.planes.asked("quiet"); return requests == 1 })
	if requests, _ := l.planes.asked("old"); requests > 0 {
		t.Error("an old project was visited before its turn")
	}
	eventually(t, "the new one waits for its next visit", func() bool { p.mu.RLock(); defer p.mu.RUnlock(); return len(p.scheduled) == 3 })
	p.VisitAll()
	if first, second := <-visits, <-visits; first == second || first == "quiet" || second == "quiet" {
		t.Errorf("%s and %s were visited", first, second)
	}
	p.Forget(readyProject("old", "1"))
	p.Observe(readyProject("old", "1"))
	if project := <-visits; project != "old" {
		t.Errorf("%s was visited when the old one was back", project)
	}
}

// TestMarkOfAProjectThatIsGone: the mark is removed when Milo reports that the project does not exist, and not while
// Milo does not answer or is in doubt.
func TestMarkOfAProjectThatIsGone(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	l.planes.set(func() { l.planes.gone["north"], l.planes.away = true, true })
	for _, project := range []string{"north", "starting"} {
		l.admission.Mark(t.Context(), project)
	}
	l.replica(soonIdle)
	eventually(t, "Milo was asked twice", func() bool { requests, _ := l.planes.asked("root/north"); return requests > 1 })
	if _, exists := l.mark("north"); !exists {
		t.Error("the mark was removed although Milo does not answer")
	}
	l.brake.reason.Store("it has lost its storage")
	l.planes.set(func() { l.planes.away = false })
	eventually(t, "the brake was asked twice", func() bool { return l.brake.asked.Load() > 1 })
	if _, exists := l.mark("north"); !exists {
		t.Error("the mark was removed although Milo is in doubt")
	}
	l.brake.reason.Store("")
	eventually(t, "removed", func() bool { _, exists := l.mark("north"); return !exists })
	if _, exists := l.mark("starting"); !exists {
		t.Error("the mark of a project was removed that exists")
	}
}

// TestProjectMadeAgainIsLookedAt: a recreated project is engaged, because Milo keeps its old Workloads.
func TestProjectMadeAgainIsLookedAt(t *testing.T) {
	t.Parallel()
	l := newLazily(t)
	p := l.replica(nil)
	p.Observe(readyProject("north", "1"))
	l.admission.Mark(t.Context(), "north")
	eventually(t, "engaged", func() bool { return isEngaged(p, "north") })
	p.Forget(readyProject("north", "1"))
	p.Observe(readyProject("north", "2"))
	eventually(t, "engaged again", func() bool {
		uid, err := p.UID("north")
		return err == nil && uid == "2" && isEngaged(p, "north")
	})
}
