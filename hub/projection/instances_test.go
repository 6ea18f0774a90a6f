// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestInstancesAreProjected(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := instance("web-0", f.hash, metav1.ConditionTrue)
	first.NetworkInterfaces = []v1alpha.InstanceNetworkInterfaceStatus{
		{Assignments: v1alpha.InstanceNetworkAssignments{NetworkIP: new("10.0.0.1")}},
	}
	second := instance("web-1", f.hash, metav1.ConditionFalse)
	second.SchedulingGates = []v1alpha.SchedulingGate{{Name: v1alpha.GateQuota}}
	f.report(t, first, second)
	f.mustReconcile(t)

	got := f.readInstance(t, "web-0")
	if !metav1.IsControlledBy(got, f.original) || got.Labels[v1alpha.LabelDeploymentUID] != string(f.original.UID) ||
		got.Labels[v1alpha.LabelInstanceIndex] != "0" || got.Labels["app"] != "web" {
		t.Errorf("metadata is %+v", got.ObjectMeta)
	}
	if got.Spec.Runtime.Sandbox.Containers[0].Image != "registry.example/app:1" ||
		got.Spec.Location.Name != naming.CityLabel(f.city) || got.TemplateHash() != f.hash {
		t.Errorf("spec is %+v", got.Spec)
	}
	wantStatus := v1alpha.InstanceStatus{
		Conditions: first.Conditions, NetworkInterfaces: first.NetworkInterfaces,
		Controller: &v1alpha.InstanceControllerStatus{ObservedTemplateHash: f.hash},
	}
	wantStatus.Conditions[0].ObservedGeneration = got.Generation
	if !equality.Semantic.DeepEqual(got.Status, wantStatus) {
		t.Errorf("status is %+v, want %+v", got.Status, wantStatus)
	}
	if gates := f.readInstance(t, "web-1").SchedulingGates(); !slices.Equal(gates, second.SchedulingGates) {
		t.Errorf("gates of web-1 are %v", gates)
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
}

func TestWhatBecomesOfAnInstance(t *testing.T) {
	t.Parallel()
	type instanceOf = v1alpha.Instance
	tests := map[string]struct {
		// change changes the projected Instance, and reported returns the cell's next report.
		change   func(*testing.T, *fixture, *instanceOf)
		reported func(*fixture) []wire.Instance
		check    func(before, after *instanceOf) bool
		wantGone bool
	}{
		"an edit of the spec is reverted": {
			change: func(t *testing.T, f *fixture, i *instanceOf) {
				t.Helper()
				planes.Change(t, f.Planes, i, func(i *instanceOf) {
					i.Spec.Runtime.Sandbox.Containers[0].Image = "other"
					i.Spec.Runtime.Sandbox.Containers[0].Args = []string{"added"}
				})
			},
			check: func(_, after *instanceOf) bool {
				container := after.Spec.Runtime.Sandbox.Containers[0]
				return container.Image == "registry.example/app:1" && len(container.Args) == 0 &&
					after.Status.Conditions[0].ObservedGeneration == after.Generation
			},
		},
		"an edit of the labels is reverted": {
			change: func(t *testing.T, f *fixture, i *instanceOf) {
				t.Helper()
				planes.Change(t, f.Planes, i, func(i *instanceOf) { i.Labels[v1alpha.LabelInstanceIndex] = "7" })
			},
			check: func(_, after *instanceOf) bool { return after.Labels[v1alpha.LabelInstanceIndex] == "0" },
		},
		"an edit of the status is reverted": {
			change: func(t *testing.T, f *fixture, i *instanceOf) {
				t.Helper()
				planes.ChangeStatus(t, f.Planes, i, func(i *instanceOf) { i.Status.Conditions[0].Status = metav1.ConditionFalse })
			},
			check: func(_, after *instanceOf) bool { return after.Status.Conditions[0].Status == metav1.ConditionTrue },
		},
		"one that was deleted is projected again": {
			change: func(t *testing.T, f *fixture, i *instanceOf) { t.Helper(); planes.Delete(t, f.Planes, i) },
			check: func(before, after *instanceOf) bool {
				return after.UID != before.UID && len(after.Status.Conditions) == 1
			},
		},
		"one that is being deleted stays as it is": {
			change: func(t *testing.T, f *fixture, i *instanceOf) {
				t.Helper()
				planes.Change(t, f.Planes, i, func(i *instanceOf) {
					i.Finalizers, i.Spec.Runtime.Sandbox.Containers[0].Image = []string{"example.com/theirs"}, "other"
				})
				planes.Delete(t, f.Planes, i)
			},
			check: func(_, after *instanceOf) bool { return after.Spec.Runtime.Sandbox.Containers[0].Image == "other" },
		},
		"one that is being deleted and not reported is not deleted again": {
			change: func(t *testing.T, f *fixture, i *instanceOf) {
				t.Helper()
				planes.Change(t, f.Planes, i, func(i *instanceOf) { i.Finalizers = []string{"example.com/theirs"} })
				planes.Delete(t, f.Planes, i)
				f.Project.Before(func(call planes.Call) error {
					if call.Verb == "delete" {
						t.Error("it is deleted again")
					}
					return nil
				})
			},
			reported: func(*fixture) []wire.Instance { return nil },
			check:    func(_, after *instanceOf) bool { return !after.DeletionTimestamp.IsZero() },
		},
		"a new report changes the status alone": {
			reported: func(f *fixture) []wire.Instance {
				return []wire.Instance{instance("web-0", f.hash, metav1.ConditionFalse)}
			},
			check: func(before, after *instanceOf) bool {
				return after.Generation == before.Generation && after.Status.Conditions[0].Status == metav1.ConditionFalse
			},
		},
		"what is not reported any more goes": {
			reported: func(*fixture) []wire.Instance { return nil }, wantGone: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.report(t, instance("web-0", f.hash, metav1.ConditionTrue))
			f.mustReconcile(t)
			before := f.readInstance(t, "web-0")
			if test.change != nil {
				test.change(t, f, before.DeepCopy())
			}
			if test.reported != nil {
				f.report(t, test.reported(f)...)
			}
			f.mustReconcile(t)
			if f.exists(t, "web-0") == test.wantGone {
				t.Fatalf("it is gone: %t", !test.wantGone)
			}
			if !test.wantGone && !test.check(before, f.readInstance(t, "web-0")) {
				t.Errorf("it was %+v and is %+v", before, f.readInstance(t, "web-0"))
			}
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

// TestRollout: an Instance that still runs the former template shows the former spec, which no other object has any
// more.
func TestRollout(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", f.hash, metav1.ConditionTrue))
	f.mustReconcile(t)
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = planes.Template("registry.example/app:2") })
	next, err := templates.Hash(&f.original.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", next, metav1.ConditionFalse))
	f.mustReconcile(t)
	for name, want := range map[string]string{"web-0": "registry.example/app:1", "web-1": "registry.example/app:2"} {
		if got := f.readInstance(t, name).Spec.Runtime.Sandbox.Containers[0].Image; got != want {
			t.Errorf("%s shows image %s, want %s", name, got, want)
		}
	}
}

// TestASurplusInstanceThatWasRecreated: only the Instance that was read is deleted.
func TestASurplusInstanceThatWasRecreated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue))
	f.mustReconcile(t)
	first := f.readInstance(t, "web-0")
	f.report(t)
	f.Project.Once("delete", "Instance", func() error {
		planes.Delete(t, f.Planes, first)
		second := first.DeepCopy()
		second.ResourceVersion, second.UID, second.Labels = "", "", nil
		planes.Create(t, f.Planes, second)
		return nil
	})
	if err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if got := f.readInstance(t, "web-0"); got.UID == first.UID {
		t.Error("it was not recreated")
	}
	if slices.ContainsFunc(f.mustReconcile(t), func(call planes.Call) bool { return call.Kind == "Instance" }) {
		t.Error("it writes to an Instance that does not belong to the deployment")
	}
}

func TestNothingToProject(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *fixture){
		"no original": func(t *testing.T, f *fixture) { t.Helper(); planes.Delete(t, f.Planes, f.original) },
		"the original is being deleted": func(t *testing.T, f *fixture) {
			t.Helper()
			planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{v1alpha.FinalizerPropagation} })
			planes.Delete(t, f.Planes, f.original)
		},
		"the original is not propagated": func(t *testing.T, f *fixture) {
			t.Helper()
			planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Annotations = nil })
		},
		"no copy": func(t *testing.T, f *fixture) { t.Helper(); planes.Delete(t, f.Planes, f.copied) },
		"the copy of an earlier original of this name": func(t *testing.T, f *fixture) {
			t.Helper()
			planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Labels[v1alpha.LabelDeploymentUID] = "earlier" })
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.report(t, instance("web-0", f.hash, metav1.ConditionTrue))
			change(t, f)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it writes %v", writes)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	tests := map[string]struct {
		plane      func(*fixture) *planes.Plane
		verb, kind string
	}{
		"the original": {func(f *fixture) *planes.Plane { return f.Project }, "get", "WorkloadDeployment"},
		"the copy":     {func(f *fixture) *planes.Plane { return f.Hub }, "get", "WorkloadDeployment"},
		"the Instances": {func(f *fixture) *planes.Plane {
			f.reconciler.shared = newShared()
			return f.Project
		}, "list", "InstanceList"},
		"one of them":        {func(f *fixture) *planes.Plane { return f.Project }, "get", "Instance"},
		"an Instance":        {func(f *fixture) *planes.Plane { return f.Project }, "apply", "Instance"},
		"its status":         {func(f *fixture) *planes.Plane { return f.Project }, "apply status", "Instance"},
		"the Clusters":       {func(f *fixture) *planes.Plane { return f.Hub }, "list", "ClusterList"},
		"the binding":        {func(f *fixture) *planes.Plane { return f.Hub }, "get", "ResourceBinding"},
		"the deployment":     {func(f *fixture) *planes.Plane { return f.Project }, "apply status", "WorkloadDeployment"},
		"a surplus Instance": {func(f *fixture) *planes.Plane { return f.Project }, "delete", "Instance"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.report(t, instance("web-1", f.hash, metav1.ConditionTrue))
			f.mustReconcile(t)
			f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-2", f.hash, metav1.ConditionTrue))
			test.plane(f).Once(test.verb, test.kind, func() error { return refused })
			if err := f.reconcile(t); !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
			f.mustReconcile(t)
			if !f.exists(t, "web-0") || f.exists(t, "web-1") || f.readOriginal(t).Status.ReadyReplicas != 2 {
				t.Error("after the error it is not projected")
			}
		})
	}
	f := newFixture(t)
	if _, err := f.reconciler.Reconcile(t.Context(),
		mcreconcile.Request{ClusterName: "another-replica's"}); !errors.Is(err, multicluster.ErrClusterNotFound) {
		t.Errorf("of a project that is not engaged: %v", err)
	}
}

// TestAnIndexOfNoCell: a cell reports an Instance whose index is assigned to no cell. One that the project has is
// leaving, and is shown until it is gone; one that the project never had is the cell's invention.
func TestAnIndexOfNoCell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	name := func(index int) string { return naming.InstanceName(f.original.Name, index) }
	report := func(indices ...int) {
		t.Helper()
		var reported []wire.Instance
		for _, index := range indices {
			reported = append(reported, instance(name(index), f.hash, metav1.ConditionTrue))
		}
		planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
			planes.SetReport(t, d, f.cell.Name, reported...)
		})
		f.mustReconcile(t)
	}
	f.report(t, instance(name(0), f.hash, metav1.ConditionTrue), instance(name(1), f.hash, metav1.ConditionTrue))
	f.mustReconcile(t)

	report(0, 1, 7)
	if f.exists(t, name(7)) {
		t.Error("the cell has added an Instance to the project")
	}

	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment.Cells[0].Indices = naming.Ranges([]int{0})
	})
	report(0, 1)
	if !f.exists(t, name(1)) {
		t.Error("an Instance that its cell still has is not shown")
	}
}
