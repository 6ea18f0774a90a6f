// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"maps"
	"os"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/propagation"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

const (
	after    = 20 * time.Second
	interval = 5 * time.Minute
)

// deploymentsFixture is deployment web of a project, its copy on the hub, and a cell to which Karmada has propagated it
// and that reports it.
type deploymentsFixture struct {
	*planes.Planes
	reconciler *Deployments
	registry   *prometheus.Registry
	clock      *testingclock.FakePassiveClock
	cell       *clusterv1alpha1.Cluster
	original   *v1alpha.WorkloadDeployment
	copied     *v1alpha.WorkloadDeployment
}

func newDeploymentsFixture(t *testing.T) *deploymentsFixture {
	t.Helper()
	// The copy is old enough that no event about it is still outstanding.
	f := &deploymentsFixture{
		Planes: planes.New(t), clock: testingclock.NewFakePassiveClock(time.Now().Add(time.Hour).Truncate(time.Second)),
		registry: prometheus.NewRegistry(),
	}
	planes.Index(t, f.Hub, path.SliceIndex{})
	planes.Index(t, f.Hub, path.WorkIndex{})
	repairer := repairs.NewRepairer(f.Hub, f.clock, prometheus.NewRegistry())
	book := path.NewBook(f.clock)
	f.registry.MustRegister(Faults{book})
	withdrawal := propagation.New(propagation.Options{
		Projects: f.Planes, Hub: f.Hub, APIReader: f.HubAPI, Owners: f.owners(), Grants: projects.NewGrants(f.Hub), Clock: f.clock,
	})
	f.reconciler = NewDeployments(DeploymentsOptions{
		Withdraw: withdrawal.Withdraw,
		Projects: f.Planes, Hub: f.Hub, APIReader: f.HubAPI, Owners: f.owners(),
		Karmada: path.NewKarmadaWatch(f.HubAPI, f.clock), Repairer: repairer, Book: book,
		Interval: interval, After: after, Clock: f.clock,
	})
	city := planes.City()
	f.cell = f.Cell(t, city)
	from := projects.Origin{Project: string(planes.ProjectName), ProjectUID: planes.ProjectUID, Namespace: f.Namespace.Name}
	f.EnsureHubNamespace(t)
	f.original = f.Deployment("web", city)
	f.original.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
	f.copied = f.original.DeepCopy()
	planes.Create(t, f.Planes, f.original)
	f.copied.Namespace, f.copied.Annotations = f.HubNamespace, from.Annotations()
	maps.Copy(f.copied.Labels, from.Labels())
	f.copied.Labels[v1alpha.LabelDeploymentUID] = string(f.original.UID)
	f.copied.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{
		Cells: []v1alpha.CellAssignment{{Name: f.cell.Name, Indices: naming.Ranges([]int{0, 1})}},
	}
	planes.Create(t, f.Planes, f.copied)
	f.settle(t)
	return f
}

// owners returns Owners with a Milo that has the project.
func (f *deploymentsFixture) owners() *ownership.Owners {
	return ownership.New(ownership.Options{
		Projects: f.Planes, Milo: &roster{name: planes.ProjectName.String(), exists: planes.ProjectUID}, Brake: &brake{},
	})
}

// settle plays Karmada: it propagates the copy to the cell and collects the cell's report.
func (f *deploymentsFixture) settle(t *testing.T) {
	t.Helper()
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status.ObservedGeneration, d.Status.ReplicaCounts = d.Generation, v1alpha.ReplicaCounts{Replicas: 2, ReadyReplicas: 2}
	})
	f.Deliver(t, f.copied, map[string]*v1alpha.WorkloadDeploymentStatus{f.cell.Name: &f.copied.Status})
}

// remove deletes the original and the copy. Another copy keeps the hub namespace in use.
func (f *deploymentsFixture) remove(t *testing.T) {
	t.Helper()
	other := f.copied.DeepCopy()
	other.Name, other.ResourceVersion, other.UID = "other", "", ""
	planes.Create(t, f.Planes, other)
	planes.Delete(t, f.Planes, f.original)
	planes.Delete(t, f.Planes, f.copied)
}

func (f *deploymentsFixture) request() mcreconcile.Request {
	return mcreconcile.Request{
		ClusterName: planes.ProjectName,
		Request:     reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.Namespace.Name, Name: "web"}},
	}
}

// audit reconciles once. It returns the delay until the next reconcile, and the writes on the hub.
func (f *deploymentsFixture) audit(t *testing.T) (time.Duration, []planes.Call) {
	t.Helper()
	f.Hub.Calls()
	result, err := f.reconciler.Reconcile(t.Context(), f.request())
	if err != nil {
		t.Fatal(err)
	}
	return result.RequeueAfter, f.Hub.Writes()
}

// A repair happens at the second audit, after the fault has lasted for too long.
func (f *deploymentsFixture) repair(t *testing.T) []planes.Call {
	t.Helper()
	if rest, writes := f.audit(t); len(writes) > 0 || rest > after {
		t.Errorf("at once it writes %v, and looks again after %s", writes, rest)
	}
	f.pass(after)
	rest, writes := f.audit(t)
	if len(writes) > 0 && rest > verifyAfter {
		t.Errorf("after a repair it looks again after %s", rest)
	}
	return writes
}

func (f *deploymentsFixture) pass(d time.Duration) { f.clock.SetTime(f.clock.Now().Add(d)) }

func (f *deploymentsFixture) binding(t *testing.T) *workv1alpha2.ResourceBinding {
	t.Helper()
	name := planes.BindingOf(f.copied).Name
	return planes.Get(t, f.Planes, f.HubNamespace, name, &workv1alpha2.ResourceBinding{})
}

func (f *deploymentsFixture) work(t *testing.T) *workv1alpha1.Work {
	t.Helper()
	name := planes.WorkOf(t, f.copied, f.cell.Name)
	return planes.Get(t, f.Planes, name.Namespace, name.Name, name)
}

// end deletes an object of Karmada's in spite of its finalizers.
func end[T client.Object](t *testing.T, f *deploymentsFixture, obj T) {
	t.Helper()
	planes.Change(t, f.Planes, obj, func(o T) { o.SetFinalizers(nil) })
	planes.Delete(t, f.Planes, obj)
}
