// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"
	"testing"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/delivery"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// slice makes the first slice of the copy.
func (f *fixture) slice(t *testing.T) *v1alpha.InstanceSlice {
	t.Helper()
	return planes.Create(t, f.Planes, &v1alpha.InstanceSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.HubNamespace, Name: v1alpha.SliceName("web", 0), OwnerReferences: []metav1.OwnerReference{f.copied.OwnerReference()},
		},
		Spec: v1alpha.InstanceSliceSpec{Deployment: "web", IndexRange: v1alpha.SliceRange(0)},
	})
}

// sliceBinding is the ResourceBinding that Karmada makes of a slice.
func (f *fixture) sliceBinding(t *testing.T, slice *v1alpha.InstanceSlice) *workv1alpha2.ResourceBinding {
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

// TestSlicesAreMended: what Karmada has forgotten of slices is put right as what it has forgotten of deployments.
func TestSlicesAreMended(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		breakIt  func(*testing.T, *fixture)
		want     planes.Call
		leftover bool
	}{
		"a slice without a binding": {
			breakIt: func(t *testing.T, f *fixture) { t.Helper(); f.slice(t) },
			want:    planes.Call{Verb: "patch", Kind: "ResourceBinding", Name: "web-workloaddeployment"},
		},
		"a slice without a Work": {
			breakIt: func(t *testing.T, f *fixture) { t.Helper(); f.sliceBinding(t, f.slice(t)) },
			want:    planes.Call{Verb: "patch", Kind: "ResourceBinding", Name: "web-16-instanceslice"},
		},
		"the binding of an earlier slice": {
			breakIt: func(t *testing.T, f *fixture) {
				t.Helper()
				earlier := f.slice(t)
				f.sliceBinding(t, earlier)
				planes.Delete(t, f.Planes, earlier)
				f.slice(t)
			},
			want: planes.Call{Verb: "delete", Kind: "ResourceBinding", Name: "web-16-instanceslice"},
		},
		"a binding without a slice": {
			breakIt: func(t *testing.T, f *fixture) {
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
			f := newFixture(t)
			test.breakIt(t, f)
			requests, err := f.reconciler.findLeftovers(t.Context(), &delivery.Events{Hub: f.Hub})
			if err != nil || slices.Contains(requests, f.request()) != test.leftover {
				t.Errorf("requested is %v, %v", requests, err)
			}
			if writes := f.mend(t); len(writes) != 1 || writes[0] != test.want {
				t.Errorf("it writes %v, want %v", writes, test.want)
			}
		})
	}
}

// TestSlicesAreAuditedByTime: a deployment is audited at every change of an Instance, and its slices are not.
func TestSlicesAreAuditedByTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
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
