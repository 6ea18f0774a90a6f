// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestSlicesFor(t *testing.T) {
	cell := func(least *int32, releasing []int, indices ...int) *v1alpha.WorkloadDeploymentAssignment {
		return &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{{
			Name: "a", Indices: naming.Ranges(indices), Releasing: naming.Ranges(releasing), MinReplicas: least,
		}}}
	}
	tests := map[string]struct {
		assignment *v1alpha.WorkloadDeploymentAssignment
		reported   int
		before     int32
		want       int32
	}{
		"nothing":                               {nil, -1, 0, 0},
		"what fits into the status":             {cell(nil, nil, 15), 15, 0, 0},
		"one more":                              {cell(nil, nil, 16), -1, 0, 1},
		"assigned":                              {cell(nil, nil, 0, 47, 48), -1, 0, 2},
		"still to be given up":                  {cell(nil, []int{80}, 0), -1, 3, 3},
		"still there":                           {cell(nil, nil, 0), 79, 4, 2},
		"never there":                           {cell(nil, nil, 0), 9999, 1, 1},
		"what an autoscaler may ask for":        {cell(new(int32(2)), nil, 0, 1, 500), 1, 0, 0},
		"what an autoscaler has asked for":      {cell(new(int32(2)), nil, 0, 1, 500), 500, 0, 16},
		"more than an autoscaler could ask for": {cell(new(int32(2)), nil, 0, 1, 500), 9999, 0, 16},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := slicesFor(test.assignment, test.reported, test.before); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func (f *fixture) slices(t *testing.T) []string {
	t.Helper()
	var list v1alpha.InstanceSliceList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.HubNamespace)); err != nil {
		t.Fatal(err)
	}
	var names []string
	copied := read(t, f, f.copied())
	for i := range list.Items {
		slice := &list.Items[i]
		if slice.OwnerReferences[0].UID != copied.UID || slice.Labels[v1alpha.LabelDeploymentUID] != string(f.original.UID) {
			t.Errorf("slice %s has metadata %+v", slice.Name, slice.ObjectMeta)
		}
		names = append(names, slice.Name)
	}
	slices.Sort(names)
	return names
}

// TestSlices: a copy has as many slices as its Instances need, until the last of them is gone.
func TestSlices(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	scale := func(replicas int32) {
		planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = replicas })
		f.mustReconcile(t, "web")
	}
	expect := func(when string, names ...string) {
		t.Helper()
		if got := f.slices(t); !slices.Equal(got, names) || int(read(t, f, f.copied()).Spec.Slices) != len(names) {
			t.Errorf("%s there are %v, want %v", when, got, names)
		}
		if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
			t.Errorf("%s it does not settle: %v", when, writes)
		}
	}
	report := func(existing string) {
		planes.ChangeReports(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) {
			d.Status.Indices = []v1alpha.CellIndices{{Cell: f.cell.Name, Existing: existing}}
		})
		f.mustReconcile(t, "web")
	}
	scale(16)
	expect("with 16 Instances")
	scale(49)
	expect("with 49 Instances", "web-16", "web-48")
	planes.Change(t, f.Planes, &v1alpha.InstanceSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: "web-16"},
	}, func(s *v1alpha.InstanceSlice) {
		s.Labels, s.OwnerReferences = nil, nil
	})
	f.mustReconcile(t, "web")
	expect("after an edit", "web-16", "web-48")
	report("0-48")
	scale(1)
	expect("while Instances are being deleted", "web-16", "web-48")
	f.Deliver(t, f.copied(), map[string]*v1alpha.WorkloadDeploymentStatus{f.cell.Name: nil})
	f.mustReconcile(t, "web")
	expect("while the cell has no report", "web-16", "web-48")
	report("0-17")
	expect("while some are being deleted", "web-16")
	report("0")
	expect("when they are gone")
}

// TestSliceEvents: a slice requests its deployment.
func TestSliceEvents(t *testing.T) {
	slice := &v1alpha.InstanceSlice{ObjectMeta: metav1.ObjectMeta{
		Name: "web-48", Labels: map[string]string{v1alpha.LabelProjectNamespace: "default"},
		Annotations: map[string]string{v1alpha.AnnotationProjectName: "p"},
	}}
	if got := ofSlice(t.Context(), slice); len(got) != 1 || got[0].Name != "web" || got[0].Namespace != "default" ||
		got[0].ClusterName != "p" {
		t.Errorf("got %v", got)
	}
	if slice.Name = "web-1"; len(ofSlice(t.Context(), slice)) > 0 {
		t.Error("a name that is no slice's has an original")
	}
}
