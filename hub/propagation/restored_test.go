// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"slices"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestHubRestoredDuringARollout: the hub gets back the state in which a backup has it, while the project is in the
// middle of a rollout with a budget. The rollout continues, an Event reports that, and no floor is lowered.
func TestHubRestoredDuringARollout(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Floor = &v1alpha.AvailabilityFloor{MinAvailable: 1, Sequence: 5}
	})
	f.mustReconcile(t, "web")
	f.schedule(t, map[string]int32{f.cell.Name: 2}, nil)
	f.mustReconcile(t, "web")
	backup := read(t, f, f.copied()).DeepCopy()

	next := planes.Template("registry.example/app:2")
	planes.Change(t, f.Planes, f.readOriginal(t), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Partition = &v1alpha.WorkloadDeploymentPartition{Index: 1, Template: *d.Spec.Template.DeepCopy()}
		d.Spec.Template, d.Spec.Floor = next, &v1alpha.AvailabilityFloor{MinAvailable: 1, Sequence: 9}
	})
	f.mustReconcile(t, "web")
	f.report(t, map[string]int32{f.cell.Name: 2})
	f.mustReconcile(t, "web")
	planes.ChangeStatus(t, f.Planes, f.readOriginal(t), func(d *v1alpha.WorkloadDeployment) { d.Status.ObservedGeneration = d.Generation })
	if calls := f.mustReconcile(t, "web"); len(calls) > 0 {
		t.Fatalf("before the restore it writes %v", calls)
	}
	before := read(t, f, f.copied()).Spec.Assignment.Cells[0].Floor.Sequence
	if before <= backup.Spec.Assignment.Cells[0].Floor.Sequence {
		t.Fatal("the cell has no newer floor than in the backup")
	}

	planes.Change(t, f.Planes, read(t, f, f.copied()), func(d *v1alpha.WorkloadDeployment) {
		d.Spec, d.Annotations = *backup.Spec.DeepCopy(), backup.Annotations
	})
	// Its cell works with the floor of the time before the restore.
	planes.ChangeReports(t, f.Planes, read(t, f, f.copied()), func(d *v1alpha.WorkloadDeployment) {
		d.Status.Indices = []v1alpha.CellIndices{{Cell: f.cell.Name, FloorSequence: before, Available: 2}}
	})
	f.Hub.Calls()
	f.Project.Calls()
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(f.Project.Calls(), func(c planes.Call) bool { return c.Verb == "event "+eventRestored }) {
		t.Error("no Event says that the hub was restored")
	}
	copied := read(t, f, f.copied())
	if p := copied.Spec.Partition; p == nil || p.Index != 1 ||
		copied.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image != "registry.example/app:2" {
		t.Errorf("the rollout does not continue: %+v", copied.Spec)
	}
	if got := copied.Spec.Floor; got.Sequence != 9 || got.MinAvailable != 1 {
		t.Errorf("the city has floor %+v", got)
	}
	if got := copied.Spec.Assignment.Cells[0].Floor; got.Sequence <= before {
		t.Errorf("the cell has floor %+v, and worked with sequence %d", got, before)
	}
	f.mustReconcile(t, "web")
	f.Project.Calls()
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if calls := f.Project.Calls(); slices.ContainsFunc(calls, func(c planes.Call) bool { return c.Verb == "event "+eventRestored }) {
		t.Error("the Event is repeated")
	}
}
