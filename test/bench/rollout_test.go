// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestProgressOfRollouts(t *testing.T) {
	done := map[string]any{"observedGeneration": int64(2), "replicas": int64(4), "readyReplicas": int64(4), "updatedReplicas": int64(4)}
	with := func(fields map[string]any) map[string]any {
		status := map[string]any{}
		maps.Copy(status, done)
		maps.Copy(status, fields)
		return status
	}
	phase := func(phase string) map[string]any {
		return map[string]any{"rollout": map[string]any{"phase": phase, "message": "it waits"}}
	}
	for name, test := range map[string]struct {
		kind, lacks string
		status      map[string]any
	}{
		"a complete StatefulSet": {kind: "StatefulSet", status: done},
		"a StatefulSet of an earlier generation": {
			kind: "StatefulSet", status: with(map[string]any{"observedGeneration": int64(1)}), lacks: "generation 1 of 2",
		},
		"a StatefulSet with Pods of earlier times": {
			kind: "StatefulSet", status: with(map[string]any{"updatedReplicas": int64(3)}), lacks: "updatedReplicas is 3 of 4",
		},
		"a complete Workload":    {kind: "Workload", status: with(phase("Complete"))},
		"a Workload in progress": {kind: "Workload", status: with(phase("Progressing")), lacks: "it waits"},
		"a Workload with too many Instances": {
			kind: "Workload", status: with(map[string]any{"rollout": phase("Complete")["rollout"], "replicas": int64(5)}),
			lacks: "replicas is 5 of 4",
		},
	} {
		spec := map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": "new"}}}}}
		o := object("v1", test.kind, "one", map[string]any{"spec": spec, "status": test.status})
		o.SetGeneration(2)
		got := ""
		if test.kind == "Workload" {
			got = workloadProgress(o, 4)
		} else {
			if got = setProgress(o, "other", 4); got == "" {
				t.Errorf("%s: it has another template", name)
			}
			got = setProgress(o, "new", 4)
		}
		if (test.lacks == "") != (got == "") || !strings.Contains(got, test.lacks) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestMiddleOfRollouts(t *testing.T) {
	results := []rolloutResult{{took: 3 * time.Second}, {took: time.Second}, {took: 2 * time.Second}}
	if got, want := spread(results), "2.0 s (1.0–3.0)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := spread(nil); got != "-" {
		t.Errorf("no result: %q", got)
	}
	if got := middle(results[:2]).took; got != time.Second {
		t.Errorf("the middle of two is %s", got)
	}
}

func TestHubWrites(t *testing.T) {
	w := hubWrites{
		{hubPlane, "compute.datumapis.com/workloaddeployments", "patch", addOnUser}:         3,
		{hubPlane, "/configmaps", "patch", addOnUser}:                                       1,
		{hubPlane, "compute.datumapis.com/workloaddeployments/status", "update", "karmada"}: 5,
	}
	if w.steps() != 3 || w.by(true) != 4 || w.by(false) != 5 {
		t.Errorf("%d steps, %d writes of the add-on, %d of Karmada", w.steps(), w.by(true), w.by(false))
	}
	if kinds := w.kinds(); len(kinds) != 3 || kinds[0].user != "karmada" {
		t.Errorf("kinds %v", kinds)
	}
}

// TestRolloutObjects: the floor and the Workload have the same budget and number of replicas, in the cells that have
// nodes for both.
func TestRolloutObjects(t *testing.T) {
	o := &rolloutOptions{instances: []int{100, 1000}, cityCount: 5, unavailable: "25%", batch: "10%"}
	cells := o.members()
	if len(cells) != 5 || cells[0].Nodes*250 < 2*200 {
		t.Errorf("cells %+v", cells)
	}
	if modes := o.modes(); len(modes) != 3 || modes[1].atOnce != 5 || modes[2].floor {
		t.Errorf("modes %+v", modes)
	}
	b := &rolloutBench{rolloutOptions: o}
	if set := b.set(cells[0], 200); set.GetName() != "rolled-ams" || set.GetNamespace() != readyNamespace {
		t.Errorf("StatefulSet %v", set)
	}
	if workload, err := b.workload(200); err != nil || workload.GetName() != rolledOut {
		t.Errorf("Workload %v, %v", workload, err)
	}
}

func TestAboveIdle(t *testing.T) {
	used := cpuTimes{"busy": 5 * time.Second, "idle": time.Second}
	got := used.above(cpuTimes{"busy": time.Second, "idle": time.Second}, 2.5)
	if got["busy"] != 2500*time.Millisecond || got["idle"] != 0 {
		t.Errorf("above idle %v", got)
	}
}

func TestCompareWrites(t *testing.T) {
	write := func(plane, resource string) aggregatedWrite { return aggregatedWrite{plane, resource, "patch", "user"} }
	rows := compareWrites(writeCounts{write(allCells, "/pods"): 2},
		writeCounts{write(allCells, "/pods"): 1, write(plane, "/rare"): 0.05, write(hubPlane, "works"): 0.5})
	var got []string
	for _, row := range rows {
		got = append(got, strings.Join(row, " "))
	}
	want := []string{
		plane + " all   0.0 0.1", "hub all   0.0 0.5", "hub user patch works 0.0 0.5", "cells all   2.0 1.0", "cells user patch pods 2.0 1.0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q", got)
	}
}
