// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/collector"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// after is --inventory-after in tests.
const after = time.Minute

var errNoAnswer = errors.New("no answer")

// existence plays Milo and the shards of this replica.
type existence struct {
	owns map[naming.ShardKey]bool
	uid  types.UID
	err  error
	// held is the brake's reason.
	held string
}

func (e *existence) Held(context.Context) (string, error) { return e.held, nil }

func (e *existence) Owns(key naming.ShardKey) bool { return e.owns[key] }

func (e *existence) Lookup(context.Context, string) (types.UID, bool, error) {
	return e.uid, e.uid != "", e.err
}

// fixture is a hub with one cell, and a project. The test plays Karmada and the agent.
type fixture struct {
	*planes.Planes
	t         *testing.T
	inventory *collector.Inventory
	clock     *clocktesting.FakeClock
	existence *existence
	cell      *clusterv1alpha1.Cluster
	hub       types.UID
	// entries are the objects in the cell.
	entries []v1alpha.InventoryEntry
	// listsNoNamespaces: the agent is of an earlier version.
	listsNoNamespaces bool
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Planes: planes.New(t), t: t, clock: clocktesting.NewFakeClock(time.Now())}
	f.cell = f.Cell(t, planes.City())
	f.existence = &existence{
		uid: planes.ProjectUID, owns: map[naming.ShardKey]bool{
			naming.ProjectKey(planes.ProjectName.String()): true, naming.CellKey(f.cell.Name): true,
		},
	}
	f.EnsureHubNamespace(t)
	t.Cleanup(f.leave)
	f.hub = planes.Get(t, f.Planes, "", metav1.NamespaceSystem, &corev1.Namespace{}).UID
	repairer := repairs.NewRepairer(f.Hub, f.clock, prometheus.NewRegistry())
	f.inventory = collector.NewInventory(collector.InventoryOptions{
		Owners: f.owners(f.Planes, nil), Existence: f.existence, Hub: f.Hub, APIReader: f.HubAPI, Repairer: repairer, After: after,
		Clock: f.clock, Registerer: prometheus.NewRegistry(),
	})
	return f
}

// leave deletes what each pass of later tests would read: a pass compares whole kinds, not one namespace.
func (f *fixture) leave() {
	for _, obj := range []client.Object{&v1alpha.WorkloadDeployment{}, &workv1alpha2.ResourceBinding{}} {
		if err := f.Client.DeleteAllOf(context.Background(), obj, client.InNamespace(f.HubNamespace)); err != nil {
			f.t.Error(err)
		}
	}
	works := client.InNamespace(planes.ExecutionSpace(f.cell.Name))
	if err := f.Client.DeleteAllOf(context.Background(), &workv1alpha1.Work{}, works); err != nil {
		f.t.Error(err)
	}
	if err := client.IgnoreNotFound(f.Client.Delete(context.Background(), f.cell)); err != nil {
		f.t.Error(err)
	}
}

func (f *fixture) owners(engaged projects.Engaged, waker projects.Waker) *ownership.Owners {
	return ownership.New(ownership.Options{Projects: engaged, Milo: f.existence, Brake: f.existence, Waker: waker})
}

// original creates a deployment in the project.
func (f *fixture) original(name string) *v1alpha.WorkloadDeployment {
	f.t.Helper()
	deployment := f.Deployment(name, "DFW")
	deployment.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace}
	return planes.Create(f.t, f.Planes, deployment)
}

// copied creates the hub's copy of a deployment, with a binding to cells. Two Instances are Ready.
func (f *fixture) copied(name string, cells ...string) *v1alpha.WorkloadDeployment {
	f.t.Helper()
	copied := f.Deployment(name, "DFW")
	copied.Namespace = f.HubNamespace
	copied.Labels[v1alpha.LabelHub] = string(f.hub)
	planes.Create(f.t, f.Planes, copied)
	binding := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.HubNamespace, Name: karmadanames.GenerateBindingName(v1alpha.KindWorkloadDeployment, name),
	}}
	binding.Spec.Resource = workv1alpha2.ObjectReference{
		APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment, Name: name,
	}
	for _, cell := range cells {
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell})
	}
	planes.Create(f.t, f.Planes, binding)
	if !slices.Contains(cells, f.cell.Name) {
		planes.ChangeReports(f.t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
			d.Status.ObservedGeneration, d.Status.ReadyReplicas = d.Generation, 2
		})
	}
	return copied
}

// work returns the Work of a deployment in the cell, with only its name.
func (f *fixture) work(name string) *workv1alpha1.Work {
	return &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(f.cell.Name), Name: karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, name, f.HubNamespace),
	}}
}

// cellWork returns the Work of the Cell, with only its name.
func (f *fixture) cellWork() *workv1alpha1.Work {
	return &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(f.cell.Name), Name: karmadanames.GenerateWorkName(v1alpha.KindCell, wire.CellName(f.hub), ""),
	}}
}

// entry returns a deployment in the cell, from a copy with a UID.
func (f *fixture) entry(name string, templateUID types.UID) v1alpha.InventoryEntry {
	return v1alpha.InventoryEntry{
		Namespace: f.HubNamespace, Name: name, TemplateUID: templateUID, Project: planes.ProjectName.String(), ProjectUID: planes.ProjectUID,
		ProjectNamespace: f.Namespace.Name, DeploymentUID: types.UID("deployment-" + name),
	}
}

// pass runs a pass and returns the writes.
func (f *fixture) pass() ([]planes.Call, error) {
	f.Hub.Calls()
	err := f.inventory.Pass(f.t.Context())
	return f.Hub.Writes(), err
}

// report plays the agent, which reports what the hub asks for, and Karmada, which delivers the report to the hub.
func (f *fixture) report() *v1alpha.Cell {
	f.t.Helper()
	cell := &v1alpha.Cell{}
	planes.ChangeStatus(f.t, f.Planes, f.cellWork(), func(w *workv1alpha1.Work) {
		if err := json.Unmarshal(w.Spec.Workload.Manifests[0].Raw, cell); err != nil {
			f.t.Fatal(err)
		}
		asked := cell.DeepCopy()
		asked.Spec.Namespaces = asked.Spec.Namespaces && !f.listsNoNamespaces
		raw, err := json.Marshal(wire.NewCellStatus(asked, append([]v1alpha.InventoryEntry{}, f.entries...)))
		if err != nil {
			f.t.Fatal(err)
		}
		w.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: raw}}}
	})
	return cell
}

// minutes lets time pass, in which the inventory is compared and the agent reports. Errors are logged: some tests want
// them.
func (f *fixture) minutes(count int) {
	f.t.Helper()
	for range 4 * count {
		if _, err := f.pass(); err != nil {
			f.t.Log(err)
		}
		f.report()
		f.clock.Step(after / 4)
	}
}

// removed reports whether Karmada was asked to delete a deployment in the cell: its Work is being deleted, and Karmada
// does not apply it.
func (f *fixture) removed(name string) bool {
	f.t.Helper()
	work := f.work(name)
	if !planes.Exists(f.t, f.Planes, work) {
		return false
	}
	planes.Get(f.t, f.Planes, work.Namespace, work.Name, work)
	return !work.DeletionTimestamp.IsZero() && work.Spec.SuspendDispatching != nil && *work.Spec.SuspendDispatching
}

// madeByKarmada creates a Work as Karmada does.
func (f *fixture) madeByKarmada(name string) *workv1alpha1.Work {
	f.t.Helper()
	work := f.work(name)
	work.Annotations = map[string]string{
		workv1alpha2.ResourceBindingNamespaceAnnotationKey: f.HubNamespace, workv1alpha2.ResourceBindingNameAnnotationKey: name,
	}
	work.Spec.SuspendDispatching = new(false)
	work.Spec.Workload.Manifests = []workv1alpha1.Manifest{
		{
			RawExtension: runtime.RawExtension{
				Raw: []byte(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment","metadata":{"name":"` + name + `"}}`),
			},
		},
	}
	return planes.Create(f.t, f.Planes, work)
}
