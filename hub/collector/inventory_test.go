// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestCellIsCarried(t *testing.T) {
	f := newFixture(t)
	if writes, err := f.pass(); err != nil || len(writes) != 1 {
		t.Fatalf("writes %v, %v", writes, err)
	}
	work := planes.Get(t, f.Planes, f.cellWork().Namespace, f.cellWork().Name, &workv1alpha1.Work{})
	if !slices.Contains(work.Finalizers, cells.ExecutionFinalizer) ||
		work.Labels[v1alpha.LabelInventory] != v1alpha.InventoryCell || len(work.Labels) != 1 {
		t.Errorf("metadata %+v", work.ObjectMeta)
	}
	cell := f.report()
	if cell.Name != wire.CellName(f.hub) || cell.Spec.HubUID != f.hub || cell.Spec.Cell != f.cell.Name ||
		cell.Labels[cells.LabelManagedByKarmada] != "true" {
		t.Errorf("cell %+v", cell)
	}
	f.copied("web", f.cell.Name)
	f.entries = []v1alpha.InventoryEntry{f.entry("web", planes.Get(t, f.Planes, f.HubNamespace, "web", &v1alpha.WorkloadDeployment{}).UID)}
	f.report()
	for range 4 {
		if writes, err := f.pass(); err != nil || len(writes) != 0 {
			t.Errorf("what agrees is written: %v, %v", writes, err)
		}
		f.clock.Step(after)
	}
	planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) { delete(c.Labels, v1alpha.LabelTopologyCity) })
	if _, err := f.pass(); err != nil {
		t.Fatal(err)
	}
	planes.Get(t, f.Planes, work.Namespace, work.Name, work)
	if work.DeletionTimestamp.IsZero() {
		t.Error("the Work of what is no cell any more stays")
	}
}

// TestLoadBalancerIsCarried: the agent of a cell gets the settings of its load balancer. While they cannot be read, it keeps the
// last ones; without them it has none.
func TestLoadBalancerIsCarried(t *testing.T) {
	f := newFixture(t)
	const readable, mistyped = `{"class":"example.com/lb","addresses":["203.0.113.0/24"]}`, `{"claass":"example.com/lb"}`
	for i, test := range []struct{ text, want string }{
		{mistyped, ""}, {readable, "example.com/lb"}, {`{"class":`, "example.com/lb"}, {mistyped, "example.com/lb"}, {"", ""}, {mistyped, ""},
	} {
		planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) {
			c.Annotations = map[string]string{v1alpha.AnnotationLoadBalancer: test.text}
		})
		if _, err := f.pass(); err != nil {
			t.Fatal(err)
		}
		got := ""
		if balancer := f.report().Spec.LoadBalancer; balancer != nil {
			got = balancer.Class
		}
		if got != test.want {
			t.Errorf("%d, %s: the class in the cell is %q, want %q", i, test.text, got, test.want)
		}
	}
}

// TestCellOfAnEarlierVersion: earlier versions labelled the Work of a Cell with a hub namespace, too. The Work is used
// as it is, and deleted with its cell.
func TestCellOfAnEarlierVersion(t *testing.T) {
	f := newFixture(t)
	if _, err := f.pass(); err != nil {
		t.Fatal(err)
	}
	work := f.cellWork()
	planes.Change(t, f.Planes, work, func(w *workv1alpha1.Work) { w.Labels[v1alpha.LabelHubNamespace] = metav1.NamespaceSystem })
	f.report()
	if writes, err := f.pass(); err != nil || len(writes) != 0 {
		t.Errorf("the Work is written: %v, %v", writes, err)
	}
	planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) { delete(c.Labels, v1alpha.LabelTopologyCity) })
	if _, err := f.pass(); err != nil {
		t.Fatal(err)
	}
	if planes.Get(t, f.Planes, work.Namespace, work.Name, work).DeletionTimestamp.IsZero() {
		t.Error("the Work stays, although its cluster is no cell any more")
	}
}

func TestUnexpected(t *testing.T) {
	tests := map[string]struct {
		// given prepares the hub and the project. Deployment web is in the cell.
		given       func(*fixture)
		wantRemoved bool
	}{
		"the project does not have it":   {given: func(*fixture) {}, wantRemoved: true},
		"the project is gone":            {given: func(f *fixture) { f.existence.uid = "" }, wantRemoved: true},
		"the project is another one now": {given: func(f *fixture) { f.existence.uid = "another" }, wantRemoved: true},
		"the project has another one in a namespace that was made again": {
			given: func(f *fixture) {
				f.original("web")
				f.HubNamespace = naming.HubNamespace(string(planes.ProjectUID), "another")
				f.entries = []v1alpha.InventoryEntry{f.entry("web", "copy-uid")}
			},
			wantRemoved: true,
		},
		"the project has another one, whose hub namespace a consumer has written": {
			given: func(f *fixture) {
				planes.Change(f.t, f.Planes, f.original("web"), func(d *v1alpha.WorkloadDeployment) {
					d.Annotations[v1alpha.AnnotationHubNamespace] = "ns-another"
				})
			},
		},
		"the deployment runs in full in another cell": {
			given: func(f *fixture) {
				f.original("web")
				f.copied("web", "another")
			},
			wantRemoved: true,
		},

		"Milo is in doubt":            {given: func(f *fixture) { f.existence.uid, f.existence.held = "", "it has lost its storage" }},
		"Milo is another one":         {given: func(f *fixture) { f.existence.uid, f.existence.held = "another", "it has lost its storage" }},
		"Milo does not answer":        {given: func(f *fixture) { f.existence.uid, f.existence.err = "", errNoAnswer }},
		"the project does not answer": {given: func(f *fixture) { f.Project.Before(func(planes.Call) error { return errNoAnswer }) }},
		"another replica has the project": {
			given: func(f *fixture) { f.existence.owns[naming.ProjectKey(planes.ProjectName.String())] = false },
		},
		"the cell does not say of which project it is":            {given: func(f *fixture) { f.entries[0].Project = "" }},
		"the hub has lost the copy, the project has the original": {given: func(f *fixture) { f.original("web") }},
		"Karmada has a Work for it": {
			given: func(f *fixture) { f.madeByKarmada("web") },
		},
		"the deployment is not bound to any cell": {
			given: func(f *fixture) {
				f.original("web")
				f.copied("web")
			},
		},
		"the deployment does not run in full elsewhere": {
			given: func(f *fixture) {
				f.original("web")
				planes.ChangeReports(f.t, f.Planes, f.copied("web", "another"), func(d *v1alpha.WorkloadDeployment) { d.Status.ReadyReplicas = 1 })
			},
		},
		"what runs elsewhere is of an earlier generation": {
			given: func(f *fixture) {
				f.original("web")
				planes.ChangeReports(f.t, f.Planes, f.copied("web", "another"), func(d *v1alpha.WorkloadDeployment) { d.Status.ObservedGeneration = 0 })
			},
		},
		"the cell still has indices": {
			given: func(f *fixture) {
				f.original("web")
				copied := f.copied("web", "another")
				planes.Change(f.t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
					d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{
						Cells: []v1alpha.CellAssignment{{Name: f.cell.Name, Indices: naming.Ranges([]int{0})}},
					}
				})
				planes.ChangeReports(f.t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) { d.Status.ObservedGeneration = d.Generation })
			},
		},
		"the cell only has indices to release, for which this must go": {
			given: func(f *fixture) {
				f.original("web")
				copied := f.copied("web", "another")
				planes.Change(f.t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
					d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{
						Cells: []v1alpha.CellAssignment{
							{Name: f.cell.Name, Releasing: naming.Ranges([]int{0})}, {Name: "another", Indices: naming.Ranges([]int{1, 2})},
						},
					}
				})
				planes.ChangeReports(f.t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
					d.Status.ObservedGeneration, d.Status.Indices = d.Generation, []v1alpha.CellIndices{{Cell: "another", Existing: "1-2"}}
				})
			},
			wantRemoved: true,
		},
		"the cell is cut off": {
			given: func(f *fixture) { f.SetReady(f.t, f.cell, metav1.ConditionFalse, metav1.Now()) },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.entries = []v1alpha.InventoryEntry{f.entry("web", "copy-uid")}
			test.given(f)
			f.minutes(1)
			if f.removed("web") {
				t.Fatal("removed within a minute")
			}
			f.minutes(5)
			if got := f.removed("web"); got != test.wantRemoved {
				t.Errorf("removed %t, want %t", got, test.wantRemoved)
			}
		})
	}
}

// disengaged is a replica without engaged projects.
type disengaged struct{ *planes.Planes }

func (disengaged) Get(context.Context, multicluster.ClusterName) (cluster.Cluster, error) {
	return nil, multicluster.ErrClusterNotFound
}

// waker holds the projects that were woken.
type waker map[string]bool

func (w waker) Wake(project string) { w[project] = true }

// TestUnexpectedWakesItsProject: a project without Workloads is not engaged, and only the project can report an object
// in a cell as unwanted.
func TestUnexpectedWakesItsProject(t *testing.T) {
	f := newFixture(t)
	woken := waker{}
	f.inventory.Owners = f.owners(disengaged{f.Planes}, woken)
	f.entries = []v1alpha.InventoryEntry{f.entry("web", "copy-uid")}
	f.minutes(3)
	if !woken[planes.ProjectName.String()] || f.removed("web") {
		t.Errorf("woken are %v", woken)
	}
	f.inventory.Owners = f.owners(f.Planes, nil)
	f.minutes(3)
	if !f.removed("web") {
		t.Error("it was not removed when the project was engaged")
	}
}

// One answer is not enough: the second question follows a minute later.
func TestUnexpectedIsWantedAgain(t *testing.T) {
	f := newFixture(t)
	f.entries = []v1alpha.InventoryEntry{f.entry("web", "copy-uid")}
	f.minutes(1)
	f.Project.Calls()
	for range 16 {
		if _, err := f.pass(); err != nil {
			t.Fatal(err)
		}
		f.report()
		f.clock.Step(after / 4)
		if slices.ContainsFunc(f.Project.Calls(), func(c planes.Call) bool { return c.Verb == "get" }) {
			f.original("web")
			f.minutes(5)
			if f.removed("web") {
				t.Error("what exists was removed")
			}
			return
		}
	}
	t.Error("the project was not asked")
}

func TestKarmadaTakesARemovalOver(t *testing.T) {
	f := newFixture(t)
	f.entries = []v1alpha.InventoryEntry{f.entry("web", "copy-uid")}
	f.Hub.Once("delete", "Work", func() error {
		planes.Change(t, f.Planes, f.work("web"), func(w *workv1alpha1.Work) { w.Spec.SuspendDispatching = new(false) })
		return nil
	})
	f.minutes(5)
	work := planes.Get(t, f.Planes, f.work("web").Namespace, f.work("web").Name, &workv1alpha1.Work{})
	if !work.DeletionTimestamp.IsZero() {
		t.Error("a Work of Karmada's was deleted")
	}
}

func TestRemovalThatWasInterrupted(t *testing.T) {
	f := newFixture(t)
	f.entries = []v1alpha.InventoryEntry{f.entry("web", "copy-uid")}
	f.Hub.Before(func(call planes.Call) error {
		if call.Verb == "delete" {
			return errors.New("the replica ended")
		}
		return nil
	})
	f.minutes(4)
	if f.removed("web") {
		t.Fatal("removed without a deletion")
	}
	f.Hub.Before(nil)
	f.minutes(2)
	if !f.removed("web") {
		t.Error("the Work of the removal stays")
	}
}

func TestMissing(t *testing.T) {
	tests := map[string]struct {
		given     func(*fixture)
		wantTouch bool
	}{
		"nothing of it in the cell": {given: func(f *fixture) { f.madeByKarmada("web") }, wantTouch: true},
		"an earlier one in the cell": {
			given: func(f *fixture) {
				f.madeByKarmada("web")
				f.entries = []v1alpha.InventoryEntry{f.entry("web", "earlier")}
			},
			wantTouch: true,
		},
		"suspended on purpose": {
			given: func(f *fixture) {
				planes.Change(f.t, f.Planes, f.madeByKarmada("web"), func(w *workv1alpha1.Work) { w.Spec.SuspendDispatching = new(true) })
			},
		},
		"the cell is another replica's": {
			given: func(f *fixture) {
				f.madeByKarmada("web")
				f.minutes(1)
				f.existence.owns[naming.CellKey(f.cell.Name)] = false
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.copied("web", f.cell.Name)
			test.given(f)
			before := planes.Get(t, f.Planes, f.work("web").Namespace, f.work("web").Name, &workv1alpha1.Work{})
			f.minutes(3)
			work := planes.Get(t, f.Planes, before.Namespace, before.Name, &workv1alpha1.Work{})
			// Karmada reconciles a Work if its generation has changed.
			if touched := work.Generation > before.Generation && work.Annotations[v1alpha.AnnotationRepairedAt] != ""; touched != test.wantTouch {
				t.Errorf("generation %d, before %d; annotations %v", work.Generation, before.Generation, work.Annotations)
			}
			if suspended := work.Spec.SuspendDispatching; test.wantTouch && suspended != nil && *suspended {
				t.Error("the touch suspended it")
			}
		})
	}
}

func TestNothingIsConcludedWithoutAReport(t *testing.T) {
	for name, status := range map[string]string{
		"no status": `null`, "an agent that does not know the kind": `{}`, "other buckets": `{"digests":["1-0"]}`, "garbled": `{"total":"many"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.copied("web", f.cell.Name)
			work := f.madeByKarmada("web")
			for range 12 {
				if _, err := f.pass(); err != nil {
					t.Fatal(err)
				}
				planes.ChangeStatus(t, f.Planes, f.cellWork(), func(w *workv1alpha1.Work) {
					w.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: []byte(status)}}}
				})
				f.clock.Step(after / 2)
			}
			planes.Get(t, f.Planes, work.Namespace, work.Name, work)
			if work.Annotations[v1alpha.AnnotationRepairedAt] != "" {
				t.Errorf("touched: %v", work.Annotations)
			}
		})
	}
}
