// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// sliced assigns indices 0 to last to the cell in the copy, and creates the slices that these need.
func (f *fixture) sliced(t *testing.T, last int32) {
	t.Helper()
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment.Cells[0].Indices = []v1alpha.IndexRange{{Last: last}}
		d.Spec.Slices = int32(naming.SlicesFor(int(last)))
	})
	for number := range int(f.copied.Spec.Slices) {
		planes.Ensure(t, f.Planes, &v1alpha.InstanceSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: f.HubNamespace, Name: naming.SliceName("web", number), OwnerReferences: []metav1.OwnerReference{f.copied.OwnerReference()},
			},
			Spec: v1alpha.InstanceSliceSpec{Deployment: "web", IndexRange: naming.SliceRange(number)},
		}, func(*v1alpha.InstanceSlice) {})
	}
}

// reportSlice plays Karmada, which collects this report of the cell in the Work of a slice.
func (f *fixture) reportSlice(t *testing.T, number int, observed int64, instances ...wire.Instance) {
	t.Helper()
	slice := planes.Get(t, f.Planes, f.HubNamespace, naming.SliceName("web", number), &v1alpha.InstanceSlice{})
	raw, err := json.Marshal(v1alpha.InstanceSliceStatus{ObservedGeneration: observed, InstanceReport: wire.New("web", instances)})
	if err != nil {
		t.Fatal(err)
	}
	f.DeliverSlice(t, slice, map[string]*runtime.RawExtension{f.cell.Name: {Raw: raw}})
}

// mustReconcileSlice reconciles a slice and returns its reads of the project's Instances, and its writes.
func (f *fixture) mustReconcileSlice(t *testing.T, number int) (reads, writes []planes.Call) {
	t.Helper()
	f.Project.Calls()
	request := f.request()
	request.Name = naming.SliceName("web", number)
	if _, err := f.reconciler.ReconcileSlice(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	for _, call := range f.Project.Calls() {
		switch call.Verb {
		case "get", "list":
			reads = append(reads, call)
		default:
			writes = append(writes, call)
		}
	}
	return reads, writes
}

func (f *fixture) instances(t *testing.T, indices ...int) []wire.Instance {
	t.Helper()
	var result []wire.Instance
	for _, index := range indices {
		result = append(result, instance(naming.InstanceName("web", index), f.hash, metav1.ConditionTrue))
	}
	return result
}

// TestInstancesInSlices: each slice is shown on its own, and a change in it does not read or write the Instances of
// others.
func TestInstancesInSlices(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sliced(t, 60)
	f.report(t, f.instances(t, 0, 1)...)
	f.mustReconcile(t)
	f.reportSlice(t, 0, 1, f.instances(t, 16, 17, 48, 3)...)
	f.mustReconcileSlice(t, 0)
	if !f.exists(t, "web-16") || !f.exists(t, "web-17") || f.exists(t, "web-48") || f.exists(t, "web-3") {
		t.Error("not exactly the Instances of the slice are shown")
	}
	reads, writes := f.mustReconcileSlice(t, 0)
	if len(writes) > 0 || len(reads) > naming.SliceInstances+2 ||
		slices.ContainsFunc(reads, func(c planes.Call) bool { return c.Verb == "list" }) {
		t.Errorf("nothing has changed, and it reads %v and writes %v", reads, writes)
	}
	changed := f.instances(t, 16, 17)
	changed[1].Conditions[0].Status = metav1.ConditionFalse
	f.reportSlice(t, 0, 1, changed...)
	if _, writes := f.mustReconcileSlice(t, 0); len(writes) != 1 {
		t.Errorf("one Instance has changed, and it writes %v", writes)
	}
	f.Project.Calls()
	if writes := f.mustReconcile(t); len(writes) > 0 || !f.exists(t, "web-16") {
		t.Errorf("for the Instances in the status it writes %v", writes)
	}
	for _, call := range f.Project.Calls() {
		if call.Verb == "list" {
			t.Errorf("for the Instances in the status it reads %v", call)
		}
	}
	f.reportSlice(t, 0, 1, f.instances(t, 16)...)
	f.mustReconcileSlice(t, 0)
	if !f.exists(t, "web-16") || f.exists(t, "web-17") {
		t.Error("an Instance that is gone is still shown")
	}
}

// TestASliceThatSaysNothing: a slice that was just created or recreated is no evidence about its Instances.
func TestASliceThatSaysNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *fixture){
		"the agent has not written it": func(t *testing.T, f *fixture) { t.Helper(); f.reportSlice(t, 0, 0) },
		"the slice was made again": func(t *testing.T, f *fixture) {
			t.Helper()
			// The last report belongs to the earlier slice.
			f.reportSlice(t, 0, 1)
			planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.HubNamespace, "web-16", &v1alpha.InstanceSlice{}))
			f.sliced(t, 60)
		},
		"the copy was made again": func(t *testing.T, f *fixture) {
			t.Helper()
			planes.Change(t, f.Planes, planes.Get(t, f.Planes, f.HubNamespace, "web-16", &v1alpha.InstanceSlice{}), func(s *v1alpha.InstanceSlice) {
				s.OwnerReferences[0].UID = "earlier"
			})
		},
		"its deployment was not looked at yet": func(t *testing.T, f *fixture) {
			t.Helper()
			f.reconciler = New(f.reconciler.Options)
			f.reportSlice(t, 0, 1)
		},
		"there is none": func(t *testing.T, f *fixture) {
			t.Helper()
			planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.HubNamespace, "web-16", &v1alpha.InstanceSlice{}))
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sliced(t, 60)
			f.report(t, f.instances(t, 0)...)
			f.mustReconcile(t)
			f.reportSlice(t, 0, 1, f.instances(t, 16)...)
			f.mustReconcileSlice(t, 0)
			change(t, f)
			if _, writes := f.mustReconcileSlice(t, 0); len(writes) > 0 || !f.exists(t, "web-16") {
				t.Errorf("it writes %v", writes)
			}
		})
	}
}

// TestASliceOfANewCopy: the shown Instances remain, with unknown state, until a cell reports on the recreated copy.
func TestASliceOfANewCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sliced(t, 60)
	f.report(t, f.instances(t, 0)...)
	f.mustReconcile(t)
	f.reportSlice(t, 0, 1, f.instances(t, 16)...)
	f.mustReconcileSlice(t, 0)
	planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment, d.Spec.Slices = &v1alpha.WorkloadDeploymentAssignment{}, 0
	})
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Status = v1alpha.WorkloadDeploymentStatus{} })
	f.mustReconcileSlice(t, 0)
	shown := planes.Get(t, f.Planes, f.Namespace.Name, "web-16", &v1alpha.Instance{})
	if got := meta.FindStatusCondition(shown.Status.Conditions, v1alpha.ConditionReady); got == nil || got.Status != metav1.ConditionUnknown {
		t.Errorf("Ready of an Instance is %+v", got)
	}
}

// TestASliceThatIsNotNeeded: its Instances are deleted with it, at its deletion event or later.
func TestASliceThatIsNotNeeded(t *testing.T) {
	t.Parallel()
	for name, reconcile := range map[string]func(*testing.T, *fixture){
		"by its event":      func(t *testing.T, f *fixture) { t.Helper(); f.mustReconcileSlice(t, 0) },
		"by its deployment": func(t *testing.T, f *fixture) { t.Helper(); f.mustReconcile(t) },
		"by another replica": func(t *testing.T, f *fixture) {
			t.Helper()
			f.reconciler = New(f.reconciler.Options)
			f.mustReconcile(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.sliced(t, 20)
			f.report(t, f.instances(t, 0)...)
			f.mustReconcile(t)
			f.reportSlice(t, 0, 1, f.instances(t, 16)...)
			f.mustReconcileSlice(t, 0)
			planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.HubNamespace, "web-16", &v1alpha.InstanceSlice{}))
			f.sliced(t, 0)
			f.report(t, f.instances(t, 0)...)
			reconcile(t, f)
			if f.exists(t, "web-16") || !f.exists(t, "web-0") {
				t.Error("not exactly the Instance of the slice is gone")
			}
		})
	}
}

// TestDoubtInSlices: when the path from a cell is broken, the state of its Instances in slices is unknown too.
func TestDoubtInSlices(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(queue.ShutDown)
	if err := f.reconciler.shared.source().Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	expectRequests := func(when string, count int) {
		t.Helper()
		if queue.Len() != count {
			t.Errorf("%s %d slices are requested, want %d", when, queue.Len(), count)
		}
		for range queue.Len() {
			request, _ := queue.Get()
			if _, err := f.reconciler.ReconcileSlice(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			queue.Done(request)
		}
	}
	ready := func() metav1.ConditionStatus {
		return meta.FindStatusCondition(f.readInstance(t, "web-50").Status.Conditions, v1alpha.ConditionReady).Status
	}
	f.sliced(t, 60)
	f.reportSlice(t, 1, 1, f.instances(t, 50)...)
	f.serve(t)
	f.mustReconcile(t)
	expectRequests("at first", 2)
	f.mustReconcile(t)
	expectRequests("when nothing has changed", 0)
	f.SetReady(t, f.cell, metav1.ConditionUnknown, f.now())
	f.mustReconcile(t)
	expectRequests("when the cell is lost", 2)
	if got := ready(); got != metav1.ConditionUnknown {
		t.Errorf("Ready is %s", got)
	}
	f.pass(time.Minute)
	f.mustReconcile(t)
	expectRequests("a minute later", 0)
	f.SetReady(t, planes.Get(t, f.Planes, "", f.cell.Name, f.cell), metav1.ConditionTrue, f.now())
	f.mustReconcile(t)
	expectRequests("when it is back", 2)
	if got := ready(); got != metav1.ConditionTrue {
		t.Errorf("Ready is %s", got)
	}
}

// TestDoubtOfASlice: the audit's findings on the path of one slice are shown in the deployment and in the slice's
// Instances, and do not change the counts, which come from the deployment's own report.
func TestDoubtOfASlice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(queue.ShutDown)
	if err := f.reconciler.Book.Source().Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	show := func(when string, findings ...path.Finding) {
		t.Helper()
		f.reconciler.Book.Replace(f.request(), path.SlicePaths, findings)
		if queue.Len() != 1 {
			t.Fatalf("%s: %d deployments are requested", when, queue.Len())
		}
		request, _ := queue.Get()
		queue.Done(request)
		if _, err := f.reconciler.Reconcile(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		for number := range 2 {
			f.mustReconcileSlice(t, number)
		}
		f.reconciler.Book.Replace(f.request(), path.SlicePaths, findings)
		if queue.Len() > 0 {
			t.Errorf("%s: it is requested again", when)
		}
	}
	ready := func(name string) metav1.ConditionStatus {
		return meta.FindStatusCondition(f.readInstance(t, name).Status.Conditions, v1alpha.ConditionReady).Status
	}
	f.sliced(t, 60)
	f.reportSlice(t, 0, 1, f.instances(t, 16)...)
	f.reportSlice(t, 1, 1, f.instances(t, 50)...)
	f.serve(t)
	before := f.readOriginal(t).Status.ReadyReplicas
	show("broken", path.Finding{
		Fault: path.WorkNotApplied, Cell: f.cell.Name, Slice: "web-16", Message: "InstanceSlice web-16 is not there", Since: f.clock.Now(),
	})
	if ready("web-0") != metav1.ConditionTrue || ready("web-16") != metav1.ConditionUnknown || ready("web-50") != metav1.ConditionTrue {
		t.Errorf("Ready of web-0 is %s, of web-16 %s, of web-50 %s", ready("web-0"), ready("web-16"), ready("web-50"))
	}
	status := f.readOriginal(t).Status
	if got := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionStatusCurrent); got.Status != metav1.ConditionFalse ||
		got.Reason != v1alpha.ReasonNotApplied || got.Message != "cell "+f.cell.Name+": InstanceSlice web-16 is not there" ||
		status.ReadyReplicas != before {
		t.Errorf("the deployment says %+v, and %d are Ready, before %d", got, status.ReadyReplicas, before)
	}
	show("repaired")
	if status := f.readOriginal(t).Status; !meta.IsStatusConditionTrue(status.Conditions,
		v1alpha.ConditionStatusCurrent) || ready("web-16") != metav1.ConditionTrue {
		t.Errorf("when it is repaired the deployment says %+v", status.Conditions)
	}
}

// TestWhoseInstance: an Instance that was edited by hand is restored by the controller that shows it.
func TestWhoseInstance(t *testing.T) {
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid"}}
	for name, want := range map[string][2]string{
		"web-0": {"web", ""}, "web-15": {"web", ""}, "web-16": {"", "web-16"}, "web-50": {"", "web-48"}, "other": {"web", ""},
	} {
		var instance client.Object = &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{d.ControllerReference()},
		}}
		for i, slices := range []bool{false, true} {
			got := ""
			for _, request := range requestsForInstance("p", instance, slices) {
				got = request.Name
			}
			if got != want[i] {
				t.Errorf("%s, slices %t: %q is requested, want %q", name, slices, got, want[i])
			}
		}
	}
}
