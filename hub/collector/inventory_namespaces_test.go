// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector_test

import (
	"encoding/json"
	"strings"
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// namespaceWork returns the Work of the hub namespace in the cell, with only its name.
func (f *fixture) namespaceWork() *workv1alpha1.Work {
	return &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(f.cell.Name), Name: karmadanames.GenerateWorkName("Namespace", f.HubNamespace, ""),
	}}
}

// city returns the city of the cell.
func (f *fixture) city() string { return strings.ToUpper(f.cell.Labels[v1alpha.LabelTopologyCity]) }

// carried creates the Work of the hub namespace, as hub/propagation does, and Karmada applies it.
func (f *fixture) carried() *workv1alpha1.Work {
	f.t.Helper()
	work := f.namespaceWork()
	work.Labels = map[string]string{
		v1alpha.LabelHubNamespace: f.HubNamespace, v1alpha.LabelHub: string(f.hub), v1alpha.LabelProject: "cluster-north",
	}
	work.Spec.Workload.Manifests = []workv1alpha1.Manifest{
		{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Namespace"}`)}},
	}
	return f.applied(planes.Create(f.t, f.Planes, work), metav1.ConditionTrue)
}

// applied sets condition Applied of a Work.
func (f *fixture) applied(work *workv1alpha1.Work, status metav1.ConditionStatus) *workv1alpha1.Work {
	f.t.Helper()
	return planes.ChangeStatus(f.t, f.Planes, work, func(w *workv1alpha1.Work) {
		meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: workv1alpha1.WorkApplied, Status: status, Reason: "Test"})
	})
}

// emptyNamespace returns the hub namespace in the cell, without objects.
func (f *fixture) emptyNamespace() v1alpha.InventoryEntry {
	return v1alpha.InventoryEntry{
		Namespace: f.HubNamespace, Empty: true, Project: planes.ProjectName.String(), ProjectUID: planes.ProjectUID,
		ProjectNamespace: f.Namespace.Name,
	}
}

// removesNamespace reports whether Karmada was asked to delete the hub namespace in the cell.
func (f *fixture) removesNamespace() bool {
	f.t.Helper()
	work := f.namespaceWork()
	if !planes.Exists(f.t, f.Planes, work) {
		return false
	}
	planes.Get(f.t, f.Planes, work.Namespace, work.Name, work)
	if work.DeletionTimestamp.IsZero() || work.Labels[v1alpha.LabelInventory] != v1alpha.InventoryRemoval {
		return false
	}
	if work.Annotations[v1alpha.AnnotationProjectName] != planes.ProjectName.String() {
		f.t.Fatalf("nobody hears of the end of the Work: %v", work.Annotations)
	}
	// Without the label of Pod security the hub's policy refuses the Work.
	object := metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, &object); err != nil {
		f.t.Fatal(err)
	}
	if object.Kind != "Namespace" || object.Name != f.HubNamespace || object.Labels[cells.LabelManagedByKarmada] != "true" ||
		object.Labels["pod-security.kubernetes.io/enforce"] != "baseline" || work.Spec.SuspendDispatching == nil ||
		!*work.Spec.SuspendDispatching {
		f.t.Fatalf("the Work to delete is %+v with %+v", work.Spec.SuspendDispatching, object)
	}
	return true
}

// TestUnexpectedNamespace: Karmada considers an object deleted that its cache of the cell lacks, and removes the Work
// of a namespace that is in the cell. Only the inventory of the cell reports the leftover namespace.
func TestUnexpectedNamespace(t *testing.T) {
	tests := map[string]struct {
		// given prepares the hub and the project. The hub namespace is in the cell, empty and without a Work.
		given       func(*fixture)
		wantRemoved bool
	}{
		"the project has nothing there":  {given: func(*fixture) {}, wantRemoved: true},
		"the project is gone":            {given: func(f *fixture) { f.existence.uid = "" }, wantRemoved: true},
		"the project is another one now": {given: func(f *fixture) { f.existence.uid = "another" }, wantRemoved: true},
		"the project has a deployment in another city": {
			given:       func(f *fixture) { planes.Create(f.t, f.Planes, f.Deployment("web", planes.City())) },
			wantRemoved: true,
		},
		"the namespace in the project was recreated": {
			given: func(f *fixture) {
				f.HubNamespace = naming.HubNamespace(string(planes.ProjectUID), "another")
				f.entries = []v1alpha.InventoryEntry{f.emptyNamespace()}
				planes.Create(f.t, f.Planes, f.Deployment("web", f.city()))
			},
			wantRemoved: true,
		},

		"something is in it": {given: func(f *fixture) { f.entries[0].Empty = false }},
		"an agent does not say": {given: func(f *fixture) {
			f.entries[0] = v1alpha.InventoryEntry{Namespace: f.HubNamespace, Project: f.entries[0].Project}
		}},
		"Milo is in doubt":            {given: func(f *fixture) { f.existence.uid, f.existence.held = "", "it has lost its storage" }},
		"Milo does not answer":        {given: func(f *fixture) { f.existence.uid, f.existence.err = "", errNoAnswer }},
		"the project does not answer": {given: func(f *fixture) { f.Project.Before(func(planes.Call) error { return errNoAnswer }) }},
		"another replica has the project": {
			given: func(f *fixture) { f.existence.owns[naming.ProjectKey(planes.ProjectName.String())] = false },
		},
		"the namespace is of no hub namespace's form": {given: func(f *fixture) { f.entries[0].Namespace = "kube-system" }},
		"the project has a deployment for the city": {
			given: func(f *fixture) { planes.Create(f.t, f.Planes, f.Deployment("web", f.city())) },
		},
		"the hub has a copy for the city": {
			given: func(f *fixture) {
				copied := f.Deployment("web", f.city())
				copied.Namespace = f.HubNamespace
				planes.Create(f.t, f.Planes, copied)
			},
		},
		"a Work carries it":      {given: func(f *fixture) { f.carried() }},
		"the cell is cut off":    {given: func(f *fixture) { f.SetReady(f.t, f.cell, metav1.ConditionFalse, metav1.Now()) }},
		"it is of another hub":   {given: func(f *fixture) { f.entries = nil }},
		"the project is unknown": {given: func(f *fixture) { f.entries[0].Project = "" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.entries = []v1alpha.InventoryEntry{f.emptyNamespace()}
			test.given(f)
			f.minutes(1)
			if f.removesNamespace() {
				t.Fatal("removed within a minute")
			}
			f.minutes(5)
			if got := f.removesNamespace(); got != test.wantRemoved {
				t.Errorf("removed %t, want %t", got, test.wantRemoved)
			}
		})
	}
}

// TestNamespaceThatIsUsedAgain: a namespace that is only empty for a moment is not removed.
func TestNamespaceThatIsUsedAgain(t *testing.T) {
	f := newFixture(t)
	f.entries = []v1alpha.InventoryEntry{f.emptyNamespace()}
	for minute := range 8 {
		f.minutes(1)
		// An answer counts only for the entry that it was about.
		f.entries[0].Empty = minute%2 == 1
		if f.removesNamespace() {
			t.Fatal("removed although it was used meanwhile")
		}
	}
}

// TestNamespaceIsTakenOver: a removal that hub/propagation has turned into the Work of the namespace is not deleted.
func TestNamespaceIsTakenOver(t *testing.T) {
	f := newFixture(t)
	f.entries = []v1alpha.InventoryEntry{f.emptyNamespace()}
	f.Hub.Once("delete", "Work", func() error {
		planes.Change(t, f.Planes, f.namespaceWork(), func(w *workv1alpha1.Work) {
			w.Spec.SuspendDispatching, w.Labels[v1alpha.LabelHub] = new(false), string(f.hub)
		})
		return nil
	})
	f.minutes(6)
	work := planes.Get(t, f.Planes, f.namespaceWork().Namespace, f.namespaceWork().Name, &workv1alpha1.Work{})
	if !work.DeletionTimestamp.IsZero() {
		t.Error("the Work of a namespace that is wanted was deleted")
	}
}

// TestMissingNamespace: Karmada recreates a namespace that the cell lacks.
func TestMissingNamespace(t *testing.T) {
	f := newFixture(t)
	before := f.carried()
	f.minutes(3)
	work := planes.Get(t, f.Planes, before.Namespace, before.Name, &workv1alpha1.Work{})
	if work.Generation == before.Generation || work.Annotations[v1alpha.AnnotationRepairedAt] == "" {
		t.Errorf("generation %d, before %d; annotations %v", work.Generation, before.Generation, work.Annotations)
	}
}

// TestNamespaceThatIsNotApplied: Karmada writes a namespace again whose Work says that it was not written, and leaves the Work alone
// when it was. A backup of the hub may have the Work before Karmada wrote that, and Karmada tries no Work again that it has seen.
func TestNamespaceThatIsNotApplied(t *testing.T) {
	f := newFixture(t)
	work := f.applied(f.carried(), metav1.ConditionFalse)
	f.entries = []v1alpha.InventoryEntry{f.emptyNamespace()}
	touched := func() bool {
		t.Helper()
		before := work.Generation
		f.minutes(3)
		planes.Get(t, f.Planes, work.Namespace, work.Name, work)
		return work.Generation != before
	}
	if !touched() {
		t.Error("the Work is not touched")
	}
	f.applied(work, metav1.ConditionTrue)
	if touched() {
		t.Error("the Work of an applied namespace is touched")
	}
}

// TestAgentWithoutNamespaces: an agent of an earlier version does not list namespaces. No namespace counts as missing
// or unexpected.
func TestAgentWithoutNamespaces(t *testing.T) {
	f := newFixture(t)
	before := f.carried()
	f.listsNoNamespaces = true
	f.minutes(4)
	work := planes.Get(t, f.Planes, before.Namespace, before.Name, &workv1alpha1.Work{})
	if work.Generation != before.Generation {
		t.Errorf("the Work is touched: %v", work.Annotations)
	}
	if cell := f.report(); len(cell.Spec.List) > 0 || !cell.Spec.Namespaces {
		t.Errorf("the hub asks for %+v", cell.Spec)
	}
}

// TestWorkOfAnEarlierVersion: its namespace has no label of the hub, so the cell does not list it.
func TestWorkOfAnEarlierVersion(t *testing.T) {
	f := newFixture(t)
	before := f.carried()
	planes.Change(t, f.Planes, before, func(w *workv1alpha1.Work) { delete(w.Labels, v1alpha.LabelHub) })
	f.minutes(4)
	work := planes.Get(t, f.Planes, before.Namespace, before.Name, &workv1alpha1.Work{})
	if work.Annotations[v1alpha.AnnotationRepairedAt] != "" {
		t.Errorf("the Work is touched: %v", work.Annotations)
	}
}
