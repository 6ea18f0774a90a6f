// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"slices"
	"strings"
	"testing"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// slice creates the first slice of the copy.
func (f *deploymentsFixture) slice(t *testing.T) *v1alpha.InstanceSlice {
	t.Helper()
	return f.sliceNumber(t, 0)
}

func (f *deploymentsFixture) sliceNumber(t *testing.T, number int) *v1alpha.InstanceSlice {
	t.Helper()
	return planes.Create(t, f.Planes, &v1alpha.InstanceSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.HubNamespace, Name: naming.SliceName("web", number), OwnerReferences: []metav1.OwnerReference{f.copied.OwnerReference()},
		},
		Spec: v1alpha.InstanceSliceSpec{Deployment: "web", IndexRange: naming.SliceRange(number)},
	})
}

// sliceBinding creates the ResourceBinding that Karmada creates for a slice.
func (f *deploymentsFixture) sliceBinding(t *testing.T, slice *v1alpha.InstanceSlice) *workv1alpha2.ResourceBinding {
	t.Helper()
	return planes.Create(t, f.Planes, &workv1alpha2.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.HubNamespace, Name: karmadanames.GenerateBindingName(v1alpha.KindInstanceSlice, slice.Name),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(slice, v1alpha.GroupVersion.WithKind(v1alpha.KindInstanceSlice))},
		},
		Spec: workv1alpha2.ResourceBindingSpec{Resource: workv1alpha2.ObjectReference{
			APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindInstanceSlice, Namespace: f.HubNamespace, Name: slice.Name,
		}},
	})
}

// TestSlicesAreMended: faults of slices in Karmada are repaired in the same manner as faults of deployments.
func TestSlicesAreMended(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		breakIt  func(*testing.T, *deploymentsFixture)
		want     planes.Call
		leftover bool
	}{
		"a slice without a binding": {
			breakIt: func(t *testing.T, f *deploymentsFixture) { t.Helper(); f.slice(t) },
			want:    planes.Call{Verb: "patch", Kind: "ResourceBinding", Name: "web-workloaddeployment"},
		},
		"a slice without a Work": {
			breakIt: func(t *testing.T, f *deploymentsFixture) { t.Helper(); f.sliceBinding(t, f.slice(t)) },
			want:    planes.Call{Verb: "patch", Kind: "ResourceBinding", Name: "web-16-instanceslice"},
		},
		"the binding of an earlier slice": {
			breakIt: func(t *testing.T, f *deploymentsFixture) {
				t.Helper()
				earlier := f.slice(t)
				f.sliceBinding(t, earlier)
				planes.Delete(t, f.Planes, earlier)
				f.slice(t)
			},
			want: planes.Call{Verb: "delete", Kind: "ResourceBinding", Name: "web-16-instanceslice"},
		},
		"a binding without a slice": {
			breakIt: func(t *testing.T, f *deploymentsFixture) {
				t.Helper()
				slice := f.slice(t)
				f.sliceBinding(t, slice)
				planes.Delete(t, f.Planes, slice)
			},
			want: planes.Call{Verb: "delete", Kind: "ResourceBinding", Name: "web-16-instanceslice"}, leftover: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newDeploymentsFixture(t)
			test.breakIt(t, f)
			requests, err := f.reconciler.findLeftovers(t.Context(), &path.Events{Hub: f.Hub})
			if err != nil || slices.Contains(requests, f.request()) != test.leftover {
				t.Errorf("requested is %v, %v", requests, err)
			}
			if writes := f.repair(t); len(writes) != 1 || writes[0] != test.want {
				t.Errorf("it writes %v, want %v", writes, test.want)
			}
			if found := f.reconciler.Book.OfSlices(f.request()); len(found) != 1 || found[0].Slice != "web-16" {
				t.Errorf("to be shown is %+v", found)
			}
		})
	}
}

// TestASuspendedSlice: a Work that was suspended by hand remains suspended, is shown, and does not block the repair of
// other slices.
func TestASuspendedSlice(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	f.sliceBinding(t, f.slice(t))
	planes.Create(t, f.Planes, &workv1alpha1.Work{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: planes.ExecutionSpace(f.cell.Name), Name: karmadanames.GenerateWorkName(v1alpha.KindInstanceSlice, "web-16", f.HubNamespace),
		},
		Spec: workv1alpha1.WorkSpec{SuspendDispatching: new(true)},
	})
	f.sliceNumber(t, 1)
	f.audit(t)
	f.pass(after)
	f.Hub.Calls()
	if _, err := f.reconciler.Reconcile(t.Context(), f.request()); err == nil || !strings.Contains(err.Error(), "suspended") {
		t.Errorf("got %v", err)
	}
	if writes := f.Hub.Writes(); len(writes) != 1 || writes[0].Kind != "ResourceBinding" {
		t.Errorf("it writes %v", writes)
	}
	if found := f.reconciler.Book.OfSlices(f.request()); len(found) != 2 || found[0].Fault != path.WorkNotApplied ||
		found[0].Slice != "web-16" {
		t.Errorf("to be shown is %+v", found)
	}
}

// TestSlicesThatAreMendedAreNotShown: the findings on slices end with their faults, and with their deployment.
func TestSlicesThatAreMendedAreNotShown(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *deploymentsFixture){
		"repaired": func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Delete(t, f.Planes, planes.Get(t, f.Planes, f.HubNamespace, naming.SliceName("web", 0), &v1alpha.InstanceSlice{}))
		},
		"another fault, of the deployment, that lasts": func(t *testing.T, f *deploymentsFixture) {
			t.Helper()
			planes.Delete(t, f.Planes, f.binding(t))
			f.audit(t)
			if len(f.reconciler.Book.OfSlices(f.request())) == 0 {
				t.Error("a fault of a moment ends the findings on slices")
			}
			f.pass(after)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newDeploymentsFixture(t)
			f.slice(t)
			f.repair(t)
			end(t, f)
			f.audit(t)
			if found := f.reconciler.Book.OfSlices(f.request()); len(found) > 0 {
				t.Errorf("to be shown is %+v", found)
			}
		})
	}
}

// TestSlicesAreRepairedWhileInstancesChange: each report of a cell lets projection judge the deployment's own path.
// That ends no finding on a slice.
func TestSlicesAreRepairedWhileInstancesChange(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	f.slice(t)
	f.audit(t)
	for range 4 {
		f.pass(after / 4)
		f.reconciler.Book.Observe(f.request(), path.OwnPath, nil)
	}
	if _, writes := f.audit(t); len(writes) != 1 || len(f.reconciler.Book.OfSlices(f.request())) != 1 {
		t.Errorf("after %s it writes %v, and to be shown is %+v", after, writes, f.reconciler.Book.OfSlices(f.request()))
	}
}

// TestSlicesAreAuditedByTime: a deployment is audited at every change of an Instance, and its slices are not.
func TestSlicesAreAuditedByTime(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	lists := func() (count int) {
		for _, call := range f.Hub.Calls() {
			if call.Kind == "InstanceSliceList" {
				count++
			}
		}
		return count
	}
	for _, want := range []int{1, 0} {
		f.Hub.Calls()
		if _, err := f.reconciler.Reconcile(t.Context(), f.request()); err != nil {
			t.Fatal(err)
		}
		if got := lists(); got != want {
			t.Errorf("slices are listed %d times, want %d", got, want)
		}
	}
	f.pass(interval)
	if _, err := f.reconciler.Reconcile(t.Context(), f.request()); err != nil || lists() != 1 {
		t.Errorf("after the interval they are not listed: %v", err)
	}
}
