// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
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
