// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/providers/single"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/fair"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// quiet is how long nothing is written when all has settled: passing states wait for less.
const quiet = pace.CrowdLimit + time.Second

// tally has the writes of a time by method and kind, and the reconciles.
type tally struct {
	writes     map[string]int
	reconciles int
}

func (t *tally) sum() (sum int) {
	for _, count := range t.writes {
		sum += count
	}
	return sum
}

// storm is a project in which the controller runs as on a replica, with caches and queues, and whose cities report.
type storm struct {
	*planes.Planes
	workloads int
	clock     *testingclock.FakePassiveClock
	isLost    atomic.Bool
	// end stops the controller and the cities.
	end func()
	// begun is when the clocks were due, and took how long it took until all cities were replaced. atEnd are the writes until then, also
	// the ones of cities.
	begun time.Time
	took  time.Duration
	atEnd tally

	mu       sync.Mutex
	counts   tally
	reports  int
	replaced int
	wrote    time.Time
	cell     simulated.Cell
}

// newStorm begins with Workloads that run in DFW, and may run in ORD.
func newStorm(t testing.TB, workloads int) *storm {
	t.Helper()
	s := &storm{
		Planes: planes.New(t), workloads: workloads, clock: testingclock.NewFakePassiveClock(testBegin),
		counts: tally{writes: map[string]int{}}, cell: simulated.New(testBegin), wrote: time.Now(),
	}
	var creations []func() error
	for number := range workloads {
		w := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace.Name, Name: fmt.Sprintf("web-%d", number)}}
		w.Spec.Template, w.Spec.Placements = planes.Template("registry.example/app:1"), placementsOf([]string{"main DFW ORD"})
		w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: 1, Failover: &v1alpha.PlacementFailover{}}
		creations = append(creations, func() error { return s.Client.Create(t.Context(), w) })
	}
	if err := inParallel(creations); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	running := &sync.WaitGroup{}
	s.end = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(s.end)
	s.runCities(ctx, t, running)
	s.runController(ctx, t, running)
	return s
}

// engaged is the one project of a replica.
type engaged struct{ *single.Provider }

// UID returns the identity of the project.
func (engaged) UID(multicluster.ClusterName) (types.UID, error) { return planes.ProjectUID, nil }

// runController runs the controller with the settings that it has on a replica.
func (s *storm) runController(ctx context.Context, t testing.TB, running *sync.WaitGroup) {
	t.Helper()
	project, err := cluster.New(s.counting(s.Config()), func(o *cluster.Options) {
		o.Scheme = s.Client.Scheme()
		o.Cache.DefaultNamespaces = map[string]cache.Config{s.Namespace.Name: {}}
	})
	if err != nil {
		t.Fatal(err)
	}
	provider := single.New(planes.ProjectName, project)
	mgr, err := mcmanager.New(s.Config(), provider, ctrl.Options{
		Scheme: s.Client.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{
		Projects: engaged{provider}, Locations: &locations{cities: "DFW ORD SEA"}, Namespaces: projects.NewNamespaces(), Clock: s.clock,
		Passing: pace.NewGroupedWrites(clock.RealClock{}, func(r mcreconcile.Request) string { return r.ClusterName.String() }),
		Cells: func(context.Context) (cells.Cells, bool, error) {
			return cells.Cells{{Name: "a", City: "dfw", Ready: !s.isLost.Load()}, {Name: "b", City: "ord", Ready: true}}, true, nil
		},
	}
	if err := r.Register(mgr, mccontroller.Options{
		MaxConcurrentReconciles: 4 * inProject, NewQueue: fair.NewQueue(inProject), SkipNameValidation: new(true),
	}, s.countReconciles); err != nil {
		t.Fatal(err)
	}
	for _, start := range []func(context.Context) error{project.Start, mgr.Start} {
		running.Go(func() {
			if err := start(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

func (s *storm) countReconciles(f mcreconcile.Func) mcreconcile.Func {
	return func(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
		s.mu.Lock()
		s.counts.reconciles++
		s.mu.Unlock()
		return f(ctx, request)
	}
}

// counter counts the writes that pass.
type counter struct {
	*storm
	next http.RoundTripper
}

// counting returns a configuration whose writes are counted.
func (s *storm) counting(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counter{storm: s, next: next} })
	return config
}

// RoundTrip counts a request with its kind and subresource.
func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		// /apis/compute.datumapis.com/v1alpha/namespaces/project-1/workloads/web/status
		_, path, _ := strings.Cut(request.URL.Path, "/namespaces/")
		parts := strings.Split(path+"///", "/")
		c.mu.Lock()
		c.counts.writes[strings.TrimSuffix(request.Method+" "+parts[1]+"/"+parts[3], "/")]++
		c.wrote = time.Now()
		c.mu.Unlock()
	}
	return c.next.RoundTrip(request)
}

// runCities reports on deployments as hub/projection does, by as many clients as it has for a project.
func (s *storm) runCities(ctx context.Context, t testing.TB, running *sync.WaitGroup) {
	t.Helper()
	watch, err := s.Client.Watch(ctx, &v1alpha.WorkloadDeploymentList{}, client.InNamespace(s.Namespace.Name))
	if err != nil {
		t.Fatal(err)
	}
	for range inProject {
		running.Go(func() {
			for event := range watch.ResultChan() {
				if d, ok := event.Object.(*v1alpha.WorkloadDeployment); ok {
					s.report(ctx, t, d)
				}
			}
		})
	}
}

// report says that all Instances of a deployment are Available, or of a lost city that nothing is known.
func (s *storm) report(ctx context.Context, t testing.TB, d *v1alpha.WorkloadDeployment) {
	t.Helper()
	lost := s.isLost.Load() && d.Spec.CityCode == "DFW"
	known := meta.IsStatusConditionTrue(d.Status.Conditions, v1alpha.ConditionAvailable)
	if d.Status.ObservedGeneration == d.Generation && known != lost {
		return
	}
	s.mu.Lock()
	s.cell.Report(t, d)
	condition := metav1.Condition{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonAvailablePlacementFound,
	}
	if lost {
		condition.Status, condition.Reason = metav1.ConditionUnknown, v1alpha.ReasonCellNotReady
	}
	meta.SetStatusCondition(&d.Status.Conditions, condition)
	if s.isLost.Load() && d.Spec.CityCode == "ORD" {
		if s.replaced++; s.replaced == s.workloads {
			s.took, s.atEnd = time.Since(s.begun), s.all()
		}
	}
	s.reports++
	s.wrote = time.Now()
	s.mu.Unlock()
	if err := s.Client.Status().Update(ctx, d); client.IgnoreNotFound(err) != nil && ctx.Err() == nil {
		t.Logf("report on %s: %v", d.Name, err)
	}
}

// all returns the writes of the controller and of the cities. s.mu is held.
func (s *storm) all() tally {
	result := tally{writes: maps.Clone(s.counts.writes), reconciles: s.counts.reconciles}
	result.writes["PUT workloaddeployments/status"] += s.reports
	return result
}

// settle waits until nothing is written.
func (s *storm) settle(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(quiet / 10) {
		s.mu.Lock()
		since := time.Since(s.wrote)
		s.mu.Unlock()
		if since > quiet {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not settle")
		}
	}
}

// during returns the writes and reconciles of the controller from a step until all has settled.
func (s *storm) during(t testing.TB, step func(testing.TB)) tally {
	t.Helper()
	s.mu.Lock()
	s.counts, s.reports = tally{writes: map[string]int{}}, 0
	s.mu.Unlock()
	step(t)
	s.mu.Lock()
	s.wrote = time.Now()
	s.mu.Unlock()
	s.settle(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	return tally{writes: maps.Clone(s.counts.writes), reconciles: s.counts.reconciles}
}

// lose lets Karmada reach DFW no more. Projection shows its Instances as Unknown.
func (s *storm) lose(t testing.TB) {
	t.Helper()
	s.isLost.Store(true)
	var list v1alpha.WorkloadDeploymentList
	if err := s.Client.List(t.Context(), &list, client.InNamespace(s.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	var reports []func() error
	for i := range list.Items {
		reports = append(reports, func() error {
			s.report(t.Context(), t, &list.Items[i])
			return nil
		})
	}
	if err := inParallel(reports); err != nil {
		t.Fatal(err)
	}
}

// move lets the clocks of all cities become due, and requests all Workloads.
func (s *storm) move(t testing.TB) {
	t.Helper()
	s.clock.SetTime(s.clock.Now().Add(v1alpha.DefaultFailoverAfter))
	s.mu.Lock()
	s.begun = time.Now()
	s.mu.Unlock()
	location := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace.Name, Name: "location"}}
	if err := s.Client.Create(t.Context(), location); err != nil {
		t.Fatal(err)
	}
}

// darken lets Karmada reach no cell of DFW, and shows its deployment as hub/projection does.
func darken(t *testing.T, f *fixture) {
	t.Helper()
	f.reconciler.Cells = func(context.Context) (cells.Cells, bool, error) {
		return cells.Cells{{Name: "a", City: "dfw"}, {Name: "b", City: "ord", Ready: true}}, true, nil
	}
	planes.ChangeStatus(t, f.Planes, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
		meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
			Type: v1alpha.ConditionAvailable, Status: metav1.ConditionUnknown, Reason: v1alpha.ReasonCellNotReady,
		})
	})
}

// withCandidates gives the Workload candidates of which one runs.
func withCandidates(w *v1alpha.Workload) {
	w.Spec.Placements[0].CityCodes = []string{"DFW", "ORD"}
	w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: 1, Failover: &v1alpha.PlacementFailover{}}
}

// untilSettled returns the writes until nothing is written, without Events.
func untilSettled(t *testing.T, f *fixture) (writes []string) {
	t.Helper()
	for range 10 {
		calls := f.mustReconcile(t)
		if len(calls) == 0 {
			return writes
		}
		for _, call := range calls {
			if !strings.HasPrefix(call.Verb, "event ") {
				writes = append(writes, call.Verb+" "+call.Name)
			}
		}
	}
	t.Fatalf("it does not settle: %v", writes)
	return nil
}

// TestWritesOfAMove: a city that is replaced costs its choice, one deployment, and one status of what has become of it.
func TestWritesOfAMove(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	f.requeues = true
	planes.Change(t, f.Planes, f.workload(t, "main DFW"), withCandidates)
	untilSettled(t, f)
	darken(t, f)
	expect := func(when string, want ...string) {
		t.Helper()
		if got := untilSettled(t, f); !slices.Equal(got, want) {
			t.Errorf("%s: it writes %q, want %q", when, got, want)
		}
	}
	expect("the clock begins", "apply status web", "apply status web")
	f.clock.SetTime(f.clock.Now().Add(v1alpha.DefaultFailoverAfter))
	expect("the clock is due", "apply status web", "apply web-main-ord", "apply status web")
}

// TestCandidatesOfALostCity: a Workload that gets candidates while its city is lost runs in the next one at once, and does not return.
func TestCandidatesOfALostCity(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	f.requeues = true
	workload := f.workload(t, "main DFW")
	untilSettled(t, f)
	darken(t, f)
	untilSettled(t, f)
	planes.Change(t, f.Planes, workload, withCandidates)
	untilSettled(t, f)
	if record := f.readWorkload(t).Status.RecordOf("main"); len(record) != 1 || record[0].City != "ORD" {
		t.Errorf("the record is %+v", record)
	}
	if got := f.names(t); !strings.Contains(got, "web-main-ord") {
		t.Errorf("deployments are %s", got)
	}
}
