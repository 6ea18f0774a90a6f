// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// fixture is deployment web of a project, its copy on the hub, and a cell in its city.
type fixture struct {
	*planes.Planes
	reconciler *Reconciler
	clock      *testingclock.FakePassiveClock
	metrics    *prometheus.Registry
	city       string
	original   *v1alpha.WorkloadDeployment
	copied     *v1alpha.WorkloadDeployment
	// hash is the hash of the original's template.
	hash string
	cell *clusterv1alpha1.Cluster
	// requeued is the delay that the last reconcile requested.
	requeued time.Duration
}

// doubtAfter is how long the path from a cell may be broken.
const doubtAfter = 20 * time.Second

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		Planes: planes.New(t), city: planes.City(),
		clock:   testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
		metrics: prometheus.NewRegistry(),
	}
	planes.Index(t, f.Project, byDeployment)
	planes.Index(t, f.Hub, path.WorkIndex{})
	f.reconciler = New(Options{
		Projects: f.Planes, Hub: f.Hub, APIReader: f.HubAPI, Karmada: path.NewKarmadaWatch(f.HubAPI, f.clock), DoubtAfter: doubtAfter,
		Clock: f.clock,
		Book:  path.NewBook(f.clock), Ready: NewReady(f.metrics), Lag: NewLag(f.metrics), Ignored: NewIgnored(f.metrics),
	})
	f.cell = f.Cell(t, f.city)
	// A cell is lost only if the hub reaches another one.
	f.Cell(t, planes.City())
	f.EnsureHubNamespace(t)
	f.original = f.Deployment("web", f.city)
	f.original.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
	f.original.Spec.Template.Labels = map[string]string{"app": "web"}
	planes.Create(t, f.Planes, f.original)
	f.copied = planes.Create(t, f.Planes, f.newCopy())
	f.deliver(t, nil)
	hash, err := templates.Hash(&f.original.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	f.hash = hash
	return f
}

// newCopy returns the hub's copy of the present original, with all Instances assigned to one cell.
func (f *fixture) newCopy() *v1alpha.WorkloadDeployment {
	copied := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.HubNamespace, Name: f.original.Name,
			Labels:      map[string]string{v1alpha.LabelDeploymentUID: string(f.original.UID)},
			Annotations: map[string]string{v1alpha.AnnotationProjectGeneration: strconv.FormatInt(f.original.Generation, 10)},
		},
		Spec: *f.original.Spec.DeepCopy(),
	}
	copied.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{
		Cells: []v1alpha.CellAssignment{{Name: f.cell.Name, Indices: naming.Ranges([]int{0, 1})}},
	}
	return copied
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: 1, LastTransitionTime: metav1.Unix(1000, 0),
	}
}

// instance returns a cell's report of an Instance of the template with this hash.
func instance(name, hash string, ready metav1.ConditionStatus) wire.Instance {
	return wire.Instance{
		Name: name, TemplateHash: hash, ObservedTemplateHash: hash,
		Conditions: []metav1.Condition{condition(v1alpha.ConditionReady, ready, v1alpha.ReasonAvailable, "in the cell")},
	}
}

// report plays the cells: they report these Instances, and a deployment that serves and is settled.
func (f *fixture) report(t *testing.T, instances ...wire.Instance) {
	t.Helper()
	f.deliver(t, nil)
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		count := int32(len(instances))
		d.Status = v1alpha.WorkloadDeploymentStatus{
			ObservedGeneration: d.Generation,
			Conditions: []metav1.Condition{
				condition(v1alpha.ConditionAvailable, metav1.ConditionTrue, v1alpha.ReasonStableInstanceFound, "2 of 2"),
				condition(v1alpha.ConditionProgressing, metav1.ConditionFalse, v1alpha.ReasonSettled, ""),
				condition(v1alpha.ConditionReplicasReady, metav1.ConditionTrue, v1alpha.ReasonAllReplicasReady, ""),
			},
			ReplicaCounts: v1alpha.ReplicaCounts{Replicas: count, CurrentReplicas: count, DesiredReplicas: count, ReadyReplicas: count},
		}
		for _, cell := range d.Spec.Assignment.Cells {
			of := slices.DeleteFunc(slices.Clone(instances), func(i wire.Instance) bool {
				index, _ := naming.InstanceIndex(d.Name, i.Name)
				return d.Spec.Assignment.Owner(index) != cell.Name
			})
			planes.SetReport(t, d, cell.Name, of...)
		}
	})
}

// deliver plays Karmada and the cell: the copy reaches the cell, which reports this status; nil: no report.
func (f *fixture) deliver(t *testing.T, status *v1alpha.WorkloadDeploymentStatus) {
	t.Helper()
	reports := map[string]*v1alpha.WorkloadDeploymentStatus{f.cell.Name: status}
	for i := range f.copied.Spec.Assignment.Cells {
		reports[f.copied.Spec.Assignment.Cells[i].Name] = status
	}
	f.Deliver(t, f.copied, reports)
}

func (f *fixture) request() mcreconcile.Request {
	return mcreconcile.Request{
		ClusterName: planes.ProjectName,
		Request:     reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.Namespace.Name, Name: "web"}},
	}
}

func (f *fixture) reconcile(t *testing.T) error {
	t.Helper()
	result, err := f.reconciler.Reconcile(t.Context(), f.request())
	f.requeued = result.RequeueAfter
	return err
}

// mustReconcile reconciles and returns the writes in the project. It fails if there are writes on the hub.
func (f *fixture) mustReconcile(t *testing.T) []planes.Call {
	t.Helper()
	f.Project.Calls()
	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if writes := f.Hub.Writes(); len(writes) > 0 {
		t.Errorf("it writes to the hub: %v", writes)
	}
	return f.Project.Writes()
}

func (f *fixture) readInstance(t *testing.T, name string) *v1alpha.Instance {
	t.Helper()
	return planes.Get(t, f.Planes, f.Namespace.Name, name, &v1alpha.Instance{})
}

func (f *fixture) readOriginal(t *testing.T) *v1alpha.WorkloadDeployment {
	t.Helper()
	return planes.Get(t, f.Planes, f.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
}

func (f *fixture) exists(t *testing.T, name string) bool {
	t.Helper()
	return planes.Exists(t, f.Planes, &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: name}})
}
