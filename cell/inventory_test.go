// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/inventory"
)

// cell creates the Cell of a hub.
func (f *fixture) cell(hub types.UID) *v1alpha.Cell {
	f.t.Helper()
	cell := &v1alpha.Cell{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha.CellName(hub)},
		Spec:       v1alpha.CellSpec{HubUID: hub, Cell: "member1"},
	}
	f.create(cell)
	f.t.Cleanup(func() { _ = f.direct.Delete(f.t.Context(), cell) })
	return cell
}

// ofHub lets a deployment come from a hub, from its copy with a UID.
func ofHub(hub types.UID, name string, templateUID string) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Name = name
		d.Labels = map[string]string{
			v1alpha.LabelHub: string(hub), v1alpha.LabelProjectUID: "project-uid", v1alpha.LabelProjectNamespace: "default",
			v1alpha.LabelDeploymentUID: "deployment-uid",
		}
		d.Annotations = map[string]string{v1alpha.AnnotationTemplateUID: templateUID, v1alpha.AnnotationProjectName: "north"}
	}
}

func (f *fixture) getCell(cell *v1alpha.Cell, name string) {
	f.t.Helper()
	if err := f.direct.Get(f.t.Context(), client.ObjectKey{Name: name}, cell); err != nil {
		f.t.Fatal(err)
	}
}

// syncCell waits until the cache has a Cell as it is.
func (f *fixture) syncCell(name string) {
	f.t.Helper()
	stored, cached := &v1alpha.Cell{}, &v1alpha.Cell{}
	f.eventually("the cache has the Cell as it is", func(ctx context.Context) bool {
		f.getCell(stored, name)
		return f.cached.Get(ctx, client.ObjectKey{Name: name}, cached) == nil && cached.ResourceVersion == stored.ResourceVersion
	})
}

// takeInventory reconciles a Cell once the cache has it and returns its status.
func (f *fixture) takeInventory(r *inventory.Reconciler, cell *v1alpha.Cell) v1alpha.CellStatus {
	f.t.Helper()
	f.sync()
	f.syncCell(cell.Name)
	request := reconcile.Request{NamespacedName: types.NamespacedName{Name: cell.Name}}
	if _, err := r.Reconcile(f.t.Context(), request); err != nil {
		f.t.Fatal(err)
	}
	stored := &v1alpha.Cell{}
	f.getCell(stored, cell.Name)
	return stored.Status
}

func TestInventory(t *testing.T) {
	f := newFixture(t)
	ours, theirs := types.UID(f.namespace+"-ours"), types.UID(f.namespace+"-theirs")
	cell := f.cell(ours)
	f.deployment(1, ofHub(ours, "a", "uid-a"))
	b := f.deployment(1, ofHub(ours, "b", "uid-b"))
	f.deployment(1, ofHub(theirs, "c", "uid-c"))
	f.deployment(1)
	want := v1alpha.Inventory{}
	want.Add(types.NamespacedName{Namespace: f.namespace, Name: "a"}, "uid-a")
	want.Add(types.NamespacedName{Namespace: f.namespace, Name: "b"}, "uid-b")

	r := inventory.New(f.cached, f.direct, f.clock)
	status := f.takeInventory(r, cell)
	if status.Total != 2 || !slices.Equal(status.Digests, want.Digests()) || len(status.Entries) != 0 || len(status.Listed) != 0 {
		t.Errorf("status %+v", status)
	}

	// It waits before it looks again, and writes nothing that is as it was.
	stored := &v1alpha.Cell{}
	f.getCell(stored, cell.Name)
	stored.Spec.List = []int32{v1alpha.InventoryBucket(types.NamespacedName{Namespace: f.namespace, Name: "b"})}
	f.update(stored)
	if status := f.takeInventory(r, cell); len(status.Listed) != 0 {
		t.Errorf("it did not wait: %+v", status)
	}
	f.clock.SetTime(now.Add(3 * time.Second))
	status = f.takeInventory(r, cell)
	if entries := status.Entries; !slices.Equal(status.Listed, stored.Spec.List) || !slices.Contains(entries, b.Entry()) || status.Truncated {
		t.Errorf("status %+v", status)
	}
	wantEntry := v1alpha.InventoryEntry{
		Namespace: f.namespace, Name: "b", TemplateUID: "uid-b", Project: "north", ProjectUID: "project-uid", ProjectNamespace: "default",
		DeploymentUID: "deployment-uid",
	}
	if entry := b.Entry(); entry != wantEntry {
		t.Errorf("entry %+v", entry)
	}
	f.syncCell(cell.Name)
	request := reconcile.Request{NamespacedName: types.NamespacedName{Name: cell.Name}}
	if _, err := inventory.New(f.readOnly(), f.direct, f.clock).Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

// TestLeft: a deployment has left the cell when the API server has nothing of it any more, its Pods included.
func TestLeft(t *testing.T) {
	f := newFixture(t)
	cell := f.cell(types.UID(f.namespace))
	deployment := f.deployment(1)
	instance := f.instance(deployment, 0)
	pod := f.pod(instance)
	leaving := v1alpha.LeavingDeployment{Namespace: f.namespace, Name: deployment.Name, Since: "2026-01-01T00:00:00.000000Z"}
	never := v1alpha.LeavingDeployment{Namespace: f.namespace, Name: "never", Since: leaving.Since}
	f.getCell(cell, cell.Name)
	cell.Spec.Leaving = []v1alpha.LeavingDeployment{leaving, never}
	f.update(cell)
	at := now
	look := func() []v1alpha.LeavingDeployment {
		at = at.Add(time.Minute)
		f.clock.SetTime(at)
		return f.takeInventory(inventory.New(f.cached, f.direct, f.clock), cell).Left
	}
	for _, object := range []client.Object{deployment, instance, pod} {
		if left := look(); !slices.Equal(left, []v1alpha.LeavingDeployment{never}) {
			t.Errorf("with %T the cell says that %v have left", object, left)
		}
		f.remove(object)
	}
	// A cache that is behind does not make the cell say that nothing is left.
	if left := look(); !slices.Equal(left, cell.Spec.Leaving) {
		t.Errorf("without anything the cell says that %v have left", left)
	}
	f.getCell(cell, cell.Name)
	again := v1alpha.LeavingDeployment{Namespace: leaving.Namespace, Name: leaving.Name, Since: "2026-01-01T00:01:00.000000Z"}
	cell.Spec.Leaving = []v1alpha.LeavingDeployment{again}
	f.update(cell)
	f.deployment(1)
	if left := look(); len(left) > 0 {
		t.Errorf("of a deployment that came again the cell says %v", left)
	}
}
