// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestLeaving: a cell is asked about a deployment that leaves it from when Karmada has no Work of it any more until it
// is released.
func TestLeaving(t *testing.T) {
	f := newFixture(t)
	if _, err := f.pass(); err != nil {
		t.Fatal(err)
	}
	f.report()
	copied := f.copied("web")
	planes.Change(t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
			{Name: f.cell.Name, Releasing: naming.Ranges([]int{1}), LeavingSince: new(metav1.NewMicroTime(f.clock.Now()))},
			{Name: "other", Indices: naming.Ranges([]int{0})},
		}}
	})
	copied = planes.Get(t, f.Planes, copied.Namespace, copied.Name, copied)
	want := []v1alpha.LeavingDeployment{copied.Leaving(&copied.Spec.Assignment.Cells[0])}
	asked := func() []v1alpha.LeavingDeployment {
		t.Helper()
		if _, err := f.pass(); err != nil {
			t.Fatal(err)
		}
		return f.report().Spec.Leaving
	}
	work := f.madeByKarmada("web")
	if got := asked(); len(got) > 0 {
		t.Errorf("with a Work the cell is asked about %v", got)
	}
	planes.Delete(t, f.Planes, work)
	if got := asked(); !slices.Equal(got, want) {
		t.Errorf("the cell is asked about %v, want %v", got, want)
	}
	if writes, err := f.pass(); err != nil || len(writes) > 0 {
		t.Errorf("it does not settle: %v, %v", writes, err)
	}
	f.wantLeft(t)
	f.answer(t, want)
	f.wantLeft(t, want...)
	planes.Change(t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment.Cells = d.Spec.Assignment.Cells[1:] })
	if got := asked(); len(got) > 0 {
		t.Errorf("when it is released the cell is asked about %v", got)
	}
}

// answer sets the cell's answer: the deployments that have left the cell.
func (f *fixture) answer(t *testing.T, left []v1alpha.LeavingDeployment) {
	t.Helper()
	raw, err := json.Marshal(v1alpha.CellStatus{Left: left})
	if err != nil {
		t.Fatal(err)
	}
	planes.ChangeStatus(t, f.Planes, f.cellWork(), func(w *workv1alpha1.Work) {
		w.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: raw}}}
	})
}

func (f *fixture) wantLeft(t *testing.T, want ...v1alpha.LeavingDeployment) {
	t.Helper()
	if got, err := cells.LeftIn(t.Context(), f.Hub, f.hub, f.cell.Name); err != nil || !slices.Equal(got, want) {
		t.Errorf("left are %v, %v; want %v", got, err, want)
	}
}

// TestNoneThatCannotLeaveKeepsOthers: a cell is asked about no more deployments at once than its schema allows. More
// than these that never leave, as on a lost node with onNodeLoss Wait, do not keep the later ones from being asked.
func TestNoneThatCannotLeaveKeepsOthers(t *testing.T) {
	f := newFixture(t)
	if _, err := f.pass(); err != nil {
		t.Fatal(err)
	}
	f.report()
	for n := range cells.MaxLeaving + 1 {
		copied := f.copied(fmt.Sprintf("web-%03d", n))
		planes.Change(t, f.Planes, copied, func(d *v1alpha.WorkloadDeployment) {
			since := f.clock.Now().Add(time.Duration(n) * time.Second)
			d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
				{Name: f.cell.Name, Releasing: naming.Ranges([]int{1}), LeavingSince: new(metav1.NewMicroTime(since))},
			}}
		})
	}
	last := fmt.Sprintf("web-%03d", cells.MaxLeaving)
	turns, changed := map[string]int{}, 0
	var before []v1alpha.LeavingDeployment
	for range 24 {
		if _, err := f.pass(); err != nil {
			t.Fatal(err)
		}
		leaving := f.report().Spec.Leaving
		if len(leaving) != cells.MaxLeaving {
			t.Fatalf("the cell is asked about %d deployments, want %d", len(leaving), cells.MaxLeaving)
		}
		for _, one := range leaving {
			turns[one.Name]++
		}
		if !slices.Equal(before, leaving) {
			changed++
		}
		before = leaving
		f.clock.SetTime(f.clock.Now().Add(10 * time.Second))
	}
	if turns[last] == 0 || turns["web-000"] == 0 || changed > 5 {
		t.Errorf("of 24 passes the last one was asked about in %d, the first in %d; the question changed %d times",
			turns[last], turns["web-000"], changed)
	}
}
