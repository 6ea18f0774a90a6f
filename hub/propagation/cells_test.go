// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// schedule plays Karmada's scheduler, which divides the deployment among cells, and the cells, which report this JSON.
// Karmada deletes the Works of other cells.
func (f *fixture) schedule(t *testing.T, shares map[string]int32, reports map[string]string) {
	t.Helper()
	binding := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.HubNamespace, Name: karmadanames.GenerateBindingName("WorkloadDeployment", "web"),
	}}
	binding.Spec.Resource = workv1alpha2.ObjectReference{
		APIVersion: "compute.datumapis.com/v1alpha", Kind: "WorkloadDeployment", Namespace: f.HubNamespace, Name: "web",
	}
	if !planes.Exists(t, f.Planes, binding) {
		planes.Create(t, f.Planes, binding)
	}
	planes.Change(t, f.Planes, binding, func(b *workv1alpha2.ResourceBinding) {
		b.Spec.Clusters = nil
		for _, cell := range slices.Sorted(maps.Keys(shares)) {
			b.Spec.Clusters = append(b.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell, Replicas: shares[cell]})
		}
	})
	var works workv1alpha1.WorkList
	if err := f.Client.List(t.Context(), &works); err != nil {
		t.Fatal(err)
	}
	for i := range works.Items {
		work := &works.Items[i]
		_, kept := reports[strings.TrimPrefix(work.Namespace, planes.ExecutionSpace(""))]
		if !kept && reports != nil && work.Name == karmadanames.GenerateWorkName(v1alpha.KindWorkloadDeployment, "web", f.HubNamespace) {
			planes.Change(t, f.Planes, work, func(w *workv1alpha1.Work) { w.Finalizers = nil })
			planes.Delete(t, f.Planes, work)
		}
	}
	for cell, report := range reports {
		f.CarryOut(t, planes.WorkOf(t, read(t, f, f.copied()), cell), &runtime.RawExtension{Raw: []byte(report)})
	}
}

func (f *fixture) indices(t *testing.T, cell *clusterv1alpha1.Cluster) (assigned, releasing []int) {
	t.Helper()
	assignment := read(t, f, f.copied()).Spec.Assignment
	return naming.Assigned(assignment, cell.Name), naming.Releasing(assignment, cell.Name)
}

func (f *fixture) wantIndices(t *testing.T, cell *clusterv1alpha1.Cluster, assigned, releasing []int) {
	t.Helper()
	if a, r := f.indices(t, cell); !slices.Equal(a, assigned) || !slices.Equal(r, releasing) {
		t.Errorf("%s has %v and releases %v, want %v and %v", cell.Name, a, r, assigned, releasing)
	}
}

// TestTwoCells share a deployment as Karmada divides it, and an index moves when the first cell has released it.
func TestTwoCells(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second := f.Cell(t, f.city)
	f.mustReconcile(t, "web")
	for _, cell := range []*clusterv1alpha1.Cluster{f.cell, second} {
		if !planes.Exists(t, f.Planes, f.workIn(cell)) {
			t.Errorf("the namespace is not carried to %s", cell.Name)
		}
	}
	if placement := read(t, f, f.policy()).Spec.Placement; placement.ReplicaSchedulingType() != policyv1alpha1.ReplicaSchedulingTypeDivided {
		t.Errorf("the placement is %+v", placement)
	}
	f.wantIndices(t, f.cell, nil, nil)
	f.wantIndices(t, second, nil, nil)

	f.schedule(t, map[string]int32{f.cell.Name: 2}, nil)
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, []int{0, 1}, nil)

	f.schedule(t, map[string]int32{f.cell.Name: 1, second.Name: 1}, map[string]string{f.cell.Name: "{}", second.Name: "{}"})
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, []int{0}, []int{1})
	f.wantIndices(t, second, []int{2}, nil)

	generation := read(t, f, f.copied()).Generation
	given := fmt.Sprintf(`{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":%d,"indices":[{"existing":"0"}]}`, generation)
	f.schedule(t, map[string]int32{f.cell.Name: 1, second.Name: 2}, map[string]string{f.cell.Name: given, second.Name: "{}"})
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, []int{0}, nil)
	f.wantIndices(t, second, []int{1, 2}, nil)

	f.schedule(t, nil, nil)
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("when nothing is decided, it writes %v", writes)
	}
}

// TestACellWithoutAShare keeps its names until it reports that nothing is left there: Karmada drops its report with its
// Work.
func TestACellWithoutAShare(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second := f.Cell(t, f.city)
	f.mustReconcile(t, "web")
	f.schedule(t, map[string]int32{f.cell.Name: 1, second.Name: 1}, map[string]string{f.cell.Name: "{}", second.Name: "{}"})
	f.mustReconcile(t, "web")
	f.wantIndices(t, second, []int{1}, nil)

	f.schedule(t, map[string]int32{f.cell.Name: 2}, map[string]string{f.cell.Name: "{}"})
	for range 2 {
		f.mustReconcile(t, "web")
		f.wantIndices(t, f.cell, []int{0, 2}, nil)
		f.wantIndices(t, second, nil, []int{1})
	}
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter != leavingRequeue {
		t.Errorf("it does not look again: %+v, %v", result, err)
	}
	hub := planes.Get(t, f.Planes, "", metav1.NamespaceSystem, &corev1.Namespace{}).UID
	copied := read(t, f, f.copied())
	work := planes.Create(t, f.Planes, &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(second.Name), Name: karmadanames.GenerateWorkName(v1alpha.KindCell, wire.CellName(hub), ""),
	}})
	left := copied.Leaving(&copied.Spec.Assignment.Cells[slices.IndexFunc(copied.Spec.Assignment.Cells,
		func(c v1alpha.CellAssignment) bool { return c.Name == second.Name })])
	planes.ChangeStatus(t, f.Planes, work, func(w *workv1alpha1.Work) {
		raw := fmt.Sprintf(`{"left":[{"namespace":%q,"name":%q,"since":%q}]}`, left.Namespace, left.Name, left.Since)
		w.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: []byte(raw)}}}
	})
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, []int{0, 2}, nil)
	f.wantIndices(t, second, nil, nil)
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter != 0 {
		t.Errorf("when nothing leaves: %+v, %v", result, err)
	}
}

// TestALostCell: a lost cell is released after a time, if another cell exists; then its Instances no longer block
// others.
func TestALostCell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	second := f.Cell(t, f.city)
	f.mustReconcile(t, "web")
	f.schedule(t, map[string]int32{f.cell.Name: 1, second.Name: 1}, map[string]string{f.cell.Name: "{}", second.Name: "{}"})
	f.mustReconcile(t, "web")
	excluded := func() []string { return f.excluded(t) }

	f.SetReady(t, f.cell, metav1.ConditionFalse, metav1.NewTime(f.clock.Now()))
	f.clock.SetTime(f.clock.Now().Add(failoverAfter - time.Minute))
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter != time.Minute || len(excluded()) > 0 {
		t.Errorf("a minute before: %+v, %v, excluded are %v", result, err, excluded())
	}
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	if result, err := f.reconcile(t); err != nil || result.RequeueAfter != 0 || !slices.Equal(excluded(), []string{f.cell.Name}) {
		t.Errorf("then: %+v, %v, excluded are %v", result, err, excluded())
	}
	f.schedule(t, map[string]int32{second.Name: 2}, map[string]string{f.cell.Name: "{}", second.Name: "{}"})
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, nil, nil)
	f.wantIndices(t, second, []int{0, 1}, nil)

	f.SetReady(t, f.cell, metav1.ConditionTrue, metav1.NewTime(f.clock.Now()))
	f.mustReconcile(t, "web")
	if len(excluded()) > 0 {
		t.Errorf("when it is back, excluded are %v", excluded())
	}
}

// TestACellThatLeaves or joins another city no longer belongs to this one.
func TestACellThatLeaves(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *fixture, *clusterv1alpha1.Cluster){
		"it is deleted": func(t *testing.T, f *fixture, cell *clusterv1alpha1.Cluster) {
			t.Helper()
			hold(t, f, cell)
			planes.Delete(t, f.Planes, cell)
		},
		"it joins another city": func(t *testing.T, f *fixture, cell *clusterv1alpha1.Cluster) {
			t.Helper()
			planes.Change(t, f.Planes, cell, func(c *clusterv1alpha1.Cluster) { c.Labels[v1alpha.LabelTopologyCity] = "elsewhere" })
		},
		"its label is removed": func(t *testing.T, f *fixture, cell *clusterv1alpha1.Cluster) {
			t.Helper()
			planes.Change(t, f.Planes, cell, func(c *clusterv1alpha1.Cluster) { c.Labels = nil })
		},
	}
	for name, leave := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			second := f.Cell(t, f.city)
			leave(t, f, second)
			f.mustReconcile(t, "web")
			if planes.Exists(t, f.Planes, f.workIn(second)) {
				t.Error("the namespace is carried to it")
			}
			f.wantIndices(t, f.cell, []int{0, 1}, nil)
			if placement := read(t, f, f.policy()).Spec.Placement; placement.ReplicaScheduling != nil {
				t.Errorf("the deployment is divided: %+v", placement)
			}
		})
	}
}

// refuse plays Karmada's scheduler, which finds no cell and removes the deployment from all of them.
func (f *fixture) refuse(t *testing.T) {
	t.Helper()
	f.schedule(t, nil, nil)
	binding := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.HubNamespace, Name: karmadanames.GenerateBindingName("WorkloadDeployment", "web"),
	}}
	planes.ChangeStatus(t, f.Planes, binding, func(b *workv1alpha2.ResourceBinding) {
		b.Status.Conditions = []metav1.Condition{{
			Type: workv1alpha2.Scheduled, Status: metav1.ConditionFalse, Reason: "NoClusterFit", Message: "0/1 clusters are available",
			LastTransitionTime: metav1.NewTime(f.clock.Now()),
		}}
	})
}

// runs plays the cell, which reports that Instances run.
func (f *fixture) runs(t *testing.T, replicas int32) {
	t.Helper()
	planes.ChangeReports(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) {
		d.Status.ObservedGeneration, d.Status.Replicas, d.Status.ReadyReplicas = d.Generation, replicas, replicas
	})
}

// TestTheLastCellLeaves: the cell of a city loses its label, and Karmada removes the deployment from it.
func TestTheLastCellLeaves(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	f.schedule(t, map[string]int32{f.cell.Name: 2}, nil)
	f.mustReconcile(t, "web")
	f.runs(t, 2)
	planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) { c.Labels = nil })
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, []int{0, 1}, nil)
	f.refuse(t)
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	f.wantIndices(t, f.cell, nil, []int{0, 1})
	planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) { c.Labels = map[string]string{v1alpha.LabelTopologyCity: f.city} })
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
}

// TestTheOnlyCellIsRefused: the only cell of a city keeps its Instances without a decision of the scheduler.
func TestTheOnlyCellIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	f.runs(t, 2)
	f.refuse(t)
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, []int{0, 1}, nil)
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
}

// TestACityWithoutACell gets all objects that a cell will need when it joins.
func TestACityWithoutACell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Delete(t, f.Planes, f.cell)
	f.mustReconcile(t, "web")
	if !planes.Exists(t, f.Planes, f.copied()) || !planes.Exists(t, f.Planes, f.policy()) || planes.Exists(t, f.Planes, f.work()) {
		t.Error("there is not exactly the copy and the policy")
	}
	f.HubAPI.Calls()
	f.mustReconcile(t, "web")
	if calls := f.HubAPI.Calls(); len(calls) > 0 {
		t.Errorf("without a cell it reads past the cache: %v", calls)
	}
	cell := f.Cell(t, f.city)
	f.mustReconcile(t, "web")
	f.wantIndices(t, cell, []int{0, 1}, nil)
}

// TestACellThatIsGoneForGood: Karmada must not choose it by its label, and no Instance remains assigned to it.
func TestACellThatIsGoneForGood(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	f.schedule(t, map[string]int32{f.cell.Name: 2}, nil)
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, []int{0, 1}, nil)
	planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) {
		c.Annotations = map[string]string{
			v1alpha.AnnotationForget: "true",
		}
	})
	f.mustReconcile(t, "web")
	affinity := read(t, f, f.policy()).Spec.Placement.ClusterAffinity
	if len(affinity.ClusterNames) > 0 || !slices.Equal(affinity.ExcludeClusters, []string{f.cell.Name}) {
		t.Errorf("the policy selects %v and excludes %v", affinity.ClusterNames, affinity.ExcludeClusters)
	}
	f.schedule(t, nil, nil)
	f.mustReconcile(t, "web")
	if assignment := read(t, f, f.copied()).Spec.Assignment; assignment == nil || len(assignment.Cells) > 0 {
		t.Errorf("assigned is %+v", assignment)
	}
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
	planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) { c.Annotations = nil })
	f.mustReconcile(t, "web")
	f.wantIndices(t, f.cell, []int{0, 1}, nil)
}
