// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// TestRollupOfSlices: Instances that do not fit into the status are reported in existing slices, and a change of one
// Instance writes only its slice.
func TestRollupOfSlices(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(49, func(d *v1alpha.WorkloadDeployment) { d.Spec.Slices = 2 })
	ready := map[int]*v1alpha.Instance{}
	for _, index := range []int{0, 16, 17, 48} {
		ready[index] = f.instance(deployment, index)
		f.setReady(ready[index], metav1.ConditionTrue)
	}
	slice := func(number int) *v1alpha.InstanceSlice {
		found := &v1alpha.InstanceSlice{}
		f.get(found, naming.SliceName("web", number))
		return found
	}
	unlisted := func() string {
		message := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionAvailable).Message
		_, rest, _ := strings.Cut(message, "; ")
		return rest
	}
	arrives := func(number int) {
		f.create(&v1alpha.InstanceSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: naming.SliceName("web", number)},
			Spec:       v1alpha.InstanceSliceSpec{Deployment: "web", IndexRange: naming.SliceRange(number)},
		})
		f.rollUp()
	}
	f.rollUp()
	if got := f.storedDeployment(); !strings.Contains(unlisted(), "3 Instances are not listed") ||
		len(got.Status.Reports[0].Instances) != 1 || got.Status.Indices[0].Ready != "0,16-17,48" {
		t.Errorf("before the slices have come it says %q, %+v", unlisted(), got.Status.Reports)
	}
	arrives(0)
	if got := slice(0).Status; got.ObservedGeneration != 1 || len(got.Instances) != 2 ||
		!strings.Contains(unlisted(), "1 Instance is not listed") {
		t.Errorf("the first has %+v, and the deployment says %q", got, unlisted())
	}
	arrives(1)
	if got := slice(1).Status; len(got.Instances) != 1 || got.Instances[0].Index != 48 || strings.Contains(unlisted(), "not listed") {
		t.Errorf("the second has %+v, and the deployment says %q", got, unlisted())
	}
	f.reconcile(rollup.New(f.readOnly(), f.clock), "web")
	before := [2]string{slice(0).ResourceVersion, slice(1).ResourceVersion}
	f.setReady(ready[17], metav1.ConditionFalse)
	f.rollUp()
	if slice(0).ResourceVersion == before[0] || slice(1).ResourceVersion != before[1] {
		t.Error("not exactly the slice of the Instance was written")
	}
	f.remove(ready[48])
	f.rollUp()
	if got := slice(1).Status; got.ObservedGeneration != 1 || len(got.Instances) != 0 {
		t.Errorf("without its Instance the second has %+v", got)
	}
}

// TestSumsFollowSlices: when Instances change one after the other, each slice is written at once, and the sums once
// every half second, however long the changes last.
func TestSumsFollowSlices(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(48, func(d *v1alpha.WorkloadDeployment) { d.Spec.Slices = 1 })
	// They have existed for a while: the slice does not wait for other starting Instances.
	f.clock.SetTime(now.Add(time.Hour))
	const first, last = 16, 36
	ready := map[int]*v1alpha.Instance{}
	for index := first; index <= last; index++ {
		ready[index] = f.instance(deployment, index)
		f.setReady(ready[index], metav1.ConditionFalse)
	}
	slice := &v1alpha.InstanceSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: naming.SliceName("web", 0)},
		Spec:       v1alpha.InstanceSliceSpec{Deployment: "web", IndexRange: naming.SliceRange(0)},
	}
	f.create(slice)
	f.rollUp()
	r, summed := f.rollup(), 0
	for index := first; index <= last; index++ {
		before, sums := slice.ResourceVersion, f.storedDeployment()
		f.setReady(ready[index], metav1.ConditionTrue)
		result := f.reconcile(r, "web")
		f.get(slice, slice.Name)
		if slice.ResourceVersion == before {
			t.Fatalf("the slice was not written when Instance %d changed", index)
		}
		if after := f.storedDeployment(); after.ResourceVersion != sums.ResourceVersion {
			summed++
			if after.Status.ReadyReplicas != int32(index-first+1) {
				t.Errorf("%d Instances are Ready after the change of %d", after.Status.ReadyReplicas, index)
			}
		} else if result.RequeueAfter == 0 || result.RequeueAfter > pace.Limit {
			t.Errorf("the sums are looked at again after %s", result.RequeueAfter)
		}
		f.clock.SetTime(f.clock.Now().Add(300 * time.Millisecond))
	}
	// 21 changes, and half a second has passed at every third.
	if summed != 7 {
		t.Errorf("the sums were written %d times", summed)
	}
	f.rollUp()
	if got := f.storedDeployment().Status; got.ReadyReplicas != last-first+1 || got.Indices[0].Ready != "16-36" {
		t.Errorf("at the end it says %d, %s", got.ReadyReplicas, got.Indices[0].Ready)
	}
	// An up-to-date slice is not compared again until another writer changes it.
	reconcile := func() {
		for range 2 {
			f.reconcile(r, "web")
			f.clock.SetTime(f.clock.Now().Add(time.Second))
		}
		f.get(slice, slice.Name)
	}
	reconcile()
	slice.Status.Instances = nil
	if err := f.direct.Status().Update(t.Context(), slice); err != nil {
		t.Fatal(err)
	}
	if reconcile(); len(slice.Status.Instances) != last-first+1 {
		t.Errorf("after somebody else has written it the slice has %d Instances", len(slice.Status.Instances))
	}
	reconcile()
	f.setReady(ready[first], metav1.ConditionFalse)
	before := slice.ResourceVersion
	if reconcile(); slice.ResourceVersion == before {
		t.Error("an Instance that changes after its slice was found to be right is not reported")
	}
}

// TestSumsWithoutSlices: if no slice shows the change, the sums do at once.
func TestSumsWithoutSlices(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(20)
	last := f.instance(deployment, 19)
	f.setReady(last, metav1.ConditionFalse)
	f.rollUp()
	f.setReady(last, metav1.ConditionTrue)
	f.reconcile(f.rollup(), "web")
	if got := f.storedDeployment().Status; got.ReadyReplicas != 1 || got.Indices[0].Ready != "19" {
		t.Errorf("it says %d, %s", got.ReadyReplicas, got.Indices[0].Ready)
	}
}

// TestSlicesOfInstancesThatStart: a slice is written when all of its Instances that start are Ready, or have taken
// their time, and at once when one is lost.
func TestSlicesOfInstancesThatStart(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(48, func(d *v1alpha.WorkloadDeployment) { d.Spec.Slices = 1 })
	slice := &v1alpha.InstanceSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: naming.SliceName("web", 0)},
		Spec:       v1alpha.InstanceSliceSpec{Deployment: "web", IndexRange: naming.SliceRange(0)},
	}
	f.create(slice)
	r := f.rollup()
	reconcile := func(after time.Duration, want int) {
		t.Helper()
		f.clock.SetTime(f.clock.Now().Add(after + 100*time.Millisecond))
		result := f.reconcile(r, "web")
		f.get(slice, slice.Name)
		if len(slice.Status.Instances) != want || (want == 0 && result.RequeueAfter == 0) {
			t.Errorf("the slice has %d Instances, requeued after %s", len(slice.Status.Instances), result.RequeueAfter)
		}
	}
	reconcile(0, 0)
	if slice.Status.ObservedGeneration != 0 {
		t.Error("a slice that is to have Instances soon was written without any")
	}
	starting := []*v1alpha.Instance{f.instance(deployment, 16), f.instance(deployment, 17)}
	f.setReady(starting[0], metav1.ConditionFalse)
	reconcile(time.Second, 0)
	reconcile(2*time.Second, 2)
	// Another starting Instance makes it wait again, and an Instance that ceases to be Ready ends that.
	third := f.instance(deployment, 18)
	f.setReady(starting[0], metav1.ConditionTrue)
	reconcile(0, 2)
	reconcile(2*time.Second, 3)
	f.setReady(starting[0], metav1.ConditionFalse)
	f.instance(deployment, 19)
	reconcile(0, 4)
	f.instance(deployment, 20)
	reconcile(0, 4)
	for _, one := range append(starting, third, f.storedInstance("web-19"), f.storedInstance("web-20")) {
		f.setReady(one, metav1.ConditionTrue)
	}
	reconcile(0, 5)
	// There are at most ten passes a second over all Instances.
	f.setReady(third, metav1.ConditionFalse)
	f.clock.SetTime(f.clock.Now().Add(60 * time.Millisecond))
	before := slice.ResourceVersion
	if result := f.reconcile(r, "web"); result.RequeueAfter != 40*time.Millisecond {
		t.Errorf("they are looked at again after %s", result.RequeueAfter)
	}
	f.clock.SetTime(f.clock.Now().Add(40 * time.Millisecond))
	f.reconcile(r, "web")
	if f.get(slice, slice.Name); slice.ResourceVersion == before {
		t.Error("they were not looked at when that time was over")
	}
}
