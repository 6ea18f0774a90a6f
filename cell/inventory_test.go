// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/collector"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// cell creates the Cell of a hub.
func (f *fixture) cell(hub types.UID) *v1alpha.Cell {
	f.t.Helper()
	cell := &v1alpha.Cell{
		ObjectMeta: metav1.ObjectMeta{Name: wire.CellName(hub)},
		Spec:       v1alpha.CellSpec{HubUID: hub, Cell: "member1"},
	}
	f.create(cell)
	f.t.Cleanup(func() { _ = f.direct.Delete(f.t.Context(), cell) })
	return cell
}

// ofHub gives a deployment the labels of a hub, and the UID of the hub's copy.
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

// syncCell waits until the cache has the current version of a Cell.
func (f *fixture) syncCell(name string) {
	f.t.Helper()
	stored, cached := &v1alpha.Cell{}, &v1alpha.Cell{}
	f.eventually("the cache has the Cell as it is", func(ctx context.Context) bool {
		f.getCell(stored, name)
		return f.cached.Get(ctx, client.ObjectKey{Name: name}, cached) == nil && cached.ResourceVersion == stored.ResourceVersion
	})
}

// takeInventory reconciles a Cell once the cache has it and returns its status.
func (f *fixture) takeInventory(r *collector.Reconciler, cell *v1alpha.Cell) v1alpha.CellStatus {
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
	want := wire.Inventory{}
	want.Add(types.NamespacedName{Namespace: f.namespace, Name: "a"}, "uid-a")
	want.Add(types.NamespacedName{Namespace: f.namespace, Name: "b"}, "uid-b")

	r := collector.New(f.cached, f.direct, f.clock)
	status := f.takeInventory(r, cell)
	if status.Total != 2 || !slices.Equal(status.Digests, want.Digests()) || len(status.Entries) != 0 || len(status.Listed) != 0 {
		t.Errorf("status %+v", status)
	}

	// It waits before the next comparison, and does not write an unchanged status.
	stored := &v1alpha.Cell{}
	f.getCell(stored, cell.Name)
	stored.Spec.List = []int32{wire.Bucket(types.NamespacedName{Namespace: f.namespace, Name: "b"})}
	f.update(stored)
	if status := f.takeInventory(r, cell); len(status.Listed) != 0 {
		t.Errorf("it did not wait: %+v", status)
	}
	f.clock.SetTime(now.Add(3 * time.Second))
	status = f.takeInventory(r, cell)
	if entries := status.Entries; !slices.Equal(status.Listed, stored.Spec.List) ||
		!slices.Contains(entries, wire.EntryOf(b)) || status.Truncated {
		t.Errorf("status %+v", status)
	}
	wantEntry := v1alpha.InventoryEntry{
		Namespace: f.namespace, Name: "b", TemplateUID: "uid-b", Project: "north", ProjectUID: "project-uid", ProjectNamespace: "default",
		DeploymentUID: "deployment-uid",
	}
	if entry := wire.EntryOf(b); entry != wantEntry {
		t.Errorf("entry %+v", entry)
	}
	f.syncCell(cell.Name)
	request := reconcile.Request{NamespacedName: types.NamespacedName{Name: cell.Name}}
	if _, err := collector.New(f.readOnly(), f.direct, f.clock).Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

// TestInventoryOfNamespaces: the cell lists the namespaces of the hub alone, and which of them are empty.
func TestInventoryOfNamespaces(t *testing.T) {
	f := newFixture(t)
	ours := types.UID(f.namespace + "-ours")
	sent := func(name string, hub types.UID) *corev1.Namespace {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: f.namespace + name, Annotations: map[string]string{v1alpha.AnnotationProjectName: "north"},
			Labels: map[string]string{
				v1alpha.LabelHub: string(hub), v1alpha.LabelProjectUID: "project-uid", v1alpha.LabelProjectNamespace: "default",
			},
		}}
		if hub == "" {
			namespace.Labels = nil
		}
		f.create(namespace)
		return namespace
	}
	empty, used := sent("-empty", ours), sent("-used", ours)
	sent("-theirs", "another-hub")
	sent("-own", "")
	pod := f.pod(f.instance(f.deployment(1), 0))
	moved := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: used.Name, Name: pod.Name, Labels: pod.Labels},
		Spec:       corev1.PodSpec{Containers: pod.Spec.Containers},
	}
	f.create(moved)
	cell := f.cell(ours)
	at := now
	look := func() v1alpha.CellStatus {
		at = at.Add(time.Minute)
		f.clock.SetTime(at)
		return f.takeInventory(collector.New(f.cached, f.direct, f.clock), cell)
	}
	if status := look(); status.Namespaces != nil || slices.ContainsFunc(status.Digests, func(digest string) bool { return digest != "" }) {
		t.Errorf("without being asked the cell reports %+v", status)
	}
	f.getCell(cell, cell.Name)
	cell.Spec.Namespaces = true
	for _, namespace := range []*corev1.Namespace{empty, used} {
		if bucket := wire.Bucket(wire.NamespaceKey(namespace.Name)); !slices.Contains(cell.Spec.List, bucket) {
			cell.Spec.List = append(cell.Spec.List, bucket)
		}
	}
	f.update(cell)
	f.eventually("the cache has the namespaces and the Pod", func(ctx context.Context) bool {
		namespaces := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}}
		return f.cached.List(ctx, namespaces, client.MatchingLabels{v1alpha.LabelHub: string(ours)}) == nil && len(namespaces.Items) == 2 &&
			f.cached.Get(ctx, client.ObjectKeyFromObject(moved), &corev1.Pod{}) == nil
	})
	want := []v1alpha.InventoryEntry{
		{Namespace: empty.Name, Empty: true, Project: "north", ProjectUID: "project-uid", ProjectNamespace: "default"},
		{Namespace: used.Name, Project: "north", ProjectUID: "project-uid", ProjectNamespace: "default"},
	}
	if status := look(); status.Namespaces == nil || *status.Namespaces != 2 || status.Total != 0 || !slices.Equal(status.Entries, want) {
		t.Errorf("status %+v", status)
	}
	// Without a namespace controller the namespace stays in deletion.
	f.remove(empty)
	f.eventually("the cache knows of the deletion", func(ctx context.Context) bool {
		namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
		return f.cached.Get(ctx, client.ObjectKeyFromObject(empty), namespace) == nil && !namespace.DeletionTimestamp.IsZero()
	})
	if status := look(); *status.Namespaces != 1 {
		t.Errorf("a namespace in deletion counts: %+v", status)
	}
}

// TestLeft: a deployment has left the cell when the API server has no object of it any more, including its Pods.
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
		return f.takeInventory(collector.New(f.cached, f.direct, f.clock), cell).Left
	}
	for _, object := range []client.Object{deployment, instance, pod} {
		if left := look(); !slices.Equal(left, []v1alpha.LeavingDeployment{never}) {
			t.Errorf("with %T the cell says that %v have left", object, left)
		}
		f.remove(object)
	}
	// A stale cache does not lead to a report that no object is left.
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
