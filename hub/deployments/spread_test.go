// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestTheChoiceIsRecordedFirst: a placement with spread has no deployment before its choice is stored, and then one in each of the
// recorded cities. When all is settled, nothing is written.
func TestTheChoiceIsRecordedFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD SEA")
	workload := f.workload(t, "main SEA DFW ORD")
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: 2} })
	writes := f.mustReconcile(t)
	first := func(verb, kind string) int {
		return slices.IndexFunc(writes, func(c planes.Call) bool { return c.Verb == verb && c.Kind == kind })
	}
	if record, deployment := first("apply status", "Workload"), first("apply", "WorkloadDeployment"); record < 0 || record > deployment {
		t.Errorf("the writes are %v", writes)
	}
	record := f.readWorkload(t).Status.RecordOf("main")
	if len(record) != 2 || record[0].City != "SEA" || record[1].City != "DFW" {
		t.Fatalf("the record is %+v", record)
	}
	for range 3 {
		f.mustReconcile(t)
	}
	if got := f.names(t); got != "web-main-dfw web-main-sea" {
		t.Errorf("deployments are %s", got)
	}
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
}

// TestWithoutSpread: the status of a Workload without candidates has no record.
func TestWithoutSpread(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	if record := f.readWorkload(t).Status.RecordOf("main"); record != nil {
		t.Errorf("it has %+v", record)
	}
}

// TestALostCityIsReplaced: the clock of a lost city is in the project, and neither a replica that does not know yet nor doubt takes the
// decision.
func TestALostCityIsReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	workload := f.workload(t, "main DFW ORD")
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) {
		w.Spec.Placements[0].Spread = &v1alpha.PlacementSpread{Cities: 1, Failover: &v1alpha.PlacementFailover{}}
	})
	all, judged := cells.Cells{{Name: "a", City: "dfw", Ready: true}, {Name: "b", City: "ord", Ready: true}}, true
	f.reconciler.Cells = func(context.Context) (cells.Cells, bool, error) { return all, judged, nil }
	for range 4 {
		f.mustReconcile(t)
	}
	all[0].Ready = false
	planes.ChangeStatus(t, f.Planes, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
		meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{
			Type: v1alpha.ConditionAvailable, Status: metav1.ConditionUnknown, Reason: v1alpha.ReasonCellNotReady,
		})
	})
	f.mustReconcile(t)
	expect := func(when, want string, since bool) {
		t.Helper()
		for range 3 {
			f.mustReconcile(t)
		}
		record := f.readWorkload(t).Status.RecordOf("main")
		if last := record[len(record)-1]; last.City != want || (last.Since != nil) != since {
			t.Errorf("%s: the record is %+v", when, record)
		}
	}
	expect("lost", "DFW", true)
	judged = false
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	expect("another replica", "DFW", true)
	judged, all[1].Ready = true, false
	expect("no cell is reached", "DFW", false)
	all[1].Ready = true
	expect("lost", "DFW", true)
	f.reconciler.HoldCities = true
	expect("the operator holds all cities", "DFW", false)
	f.reconciler.HoldCities = false
	expect("the hold has ended", "DFW", true)
	f.reconciler.Answers = func(w mcreconcile.Request, city string) bool { return w.Name == "web" && city == "DFW" }
	expect("an address answers", "DFW", false)
	f.reconciler.Answers = nil
	expect("lost again", "DFW", true)
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	expect("a minute later", "ORD", false)
	if got := f.names(t); got != "web-main-dfw web-main-ord" {
		t.Errorf("deployments are %s", got)
	}
}
