// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func testOptions() Options {
	return Options{
		Seed: 7, Duration: 5 * time.Minute, Interval: 10 * time.Second, Pace: time.Second, Workloads: 40,
		Projects: []string{"east", "west"}, Cities: []string{"DFW", "ORD"}, Processes: []string{"b", "a", "c"},
	}
}

func planned(t *testing.T, o Options) Plan {
	t.Helper()
	plan, err := NewPlan(o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestPlanIsRepeatable: equal seeds give equal plans, other seeds give other plans, and the killed processes do not
// change the operations.
func TestPlanIsRepeatable(t *testing.T) {
	first := planned(t, testOptions())
	shuffled := testOptions()
	shuffled.Processes = []string{"c", "b", "a"}
	if again := planned(t, shuffled); !reflect.DeepEqual(first, again) {
		t.Error("the same seed has led to another plan")
	}
	other := testOptions()
	other.Seed++
	if again := planned(t, other); reflect.DeepEqual(first.Operations, again.Operations) || reflect.DeepEqual(first.Faults, again.Faults) {
		t.Error("another seed has led to the same plan")
	}
	fewer := testOptions()
	fewer.Processes = []string{"a"}
	if again := planned(t, fewer); !reflect.DeepEqual(first.Operations, again.Operations) {
		t.Error("the operations depend on what is killed")
	}
}

// TestOperationsFit: operations are in order and fit what exists, and there are some of each kind.
func TestOperationsFit(t *testing.T) {
	o := testOptions()
	exists, verbs, last := map[Name]*Wanted{}, map[Verb]int{}, time.Duration(0)
	for _, operation := range planned(t, o).Operations {
		if operation.At < last || operation.At >= o.Duration {
			t.Fatalf("%+v comes after %s", operation, last)
		}
		last = operation.At
		verbs[operation.Verb]++
		before := exists[operation.Name]
		if (before == nil) != (operation.Verb == Create) || (operation.Wanted == nil) != (operation.Verb == Delete) {
			t.Fatalf("%+v of %+v", operation, before)
		}
		if operation.Verb == Scale && reflect.DeepEqual(before, operation.Wanted) {
			t.Errorf("%+v changes nothing", operation)
		}
		exists[operation.Name] = operation.Wanted
	}
	for _, verb := range []Verb{Create, Scale, Rollout, Move, Delete} {
		if verbs[verb] < 5 {
			t.Errorf("%d times %s", verbs[verb], verb)
		}
	}
	if wanted := len(exists); wanted != o.Workloads {
		t.Errorf("%d Workloads", wanted)
	}
}

// TestFaults: faults are in order and stay within the bounds, and every process is killed.
func TestFaults(t *testing.T) {
	o := testOptions()
	faults, killed := planned(t, o).Faults, map[string]int{}
	for i, fault := range faults {
		if i > 0 && fault.At <= faults[i-1].At || fault.At >= o.Duration || fault.Down < leastDown || fault.Down > mostDown {
			t.Errorf("fault %d is %+v", i, fault)
		}
		killed[fault.Process]++
	}
	if len(faults) < 20 || len(killed) != len(o.Processes) {
		t.Errorf("%d faults: %v", len(faults), killed)
	}
}

func TestPlanNeedsOptions(t *testing.T) {
	_, err := NewPlan(Options{})
	if err == nil {
		t.Fatal("nothing is missing")
	}
	for _, what := range []string{"duration", "interval", "pace", "number of Workloads", "projects", "cities", "processes"} {
		if !strings.Contains(err.Error(), what) {
			t.Errorf("the error does not name the %s: %v", what, err)
		}
	}
}

func TestMatch(t *testing.T) {
	known := []string{"agent/dfw", "cell-dfw-kube-apiserver", "cell-ord-kube-apiserver", "hub-kube-apiserver"}
	tests := map[string]struct {
		patterns  []string
		want      []string
		wantError string
	}{
		"one":            {patterns: []string{"hub-kube-apiserver"}, want: known[3:]},
		"all of a kind":  {patterns: []string{"cell-*-kube-apiserver"}, want: known[1:3]},
		"twice the same": {patterns: []string{"agent/*", "agent/dfw"}, want: known[:1]},
		"a wrong name":   {patterns: []string{"hub-kube-apiserver", "nobody"}, wantError: `"nobody"`},
		"no pattern":     {patterns: []string{"[-"}, wantError: "syntax error"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Match(test.patterns, known)
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Errorf("error is %v", err)
				}
				return
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// TestMoves: the moves of an operator are repeatable, stay within the bounds, and each kind comes before one comes again.
func TestMoves(t *testing.T) {
	o, cells, kinds := testOptions(), []string{"dfw", "ord-1"}, moveKinds(false)
	moves := planMoves(o, kinds, cells, newRandom(o.Seed, 3))
	if again := planMoves(o, kinds, cells, newRandom(o.Seed, 3)); !reflect.DeepEqual(moves, again) {
		t.Error("the same seed has led to other moves")
	}
	first := map[string]int{}
	for i, move := range moves {
		if move.At >= o.Duration || i > 0 && move.At < moves[i-1].At || move.Lasts < leastMove || move.Lasts > mostMove ||
			!slices.Contains(cells, move.Cell) || !slices.Contains(o.Projects, move.Project) {
			t.Errorf("%+v", move)
		}
		if i < len(kinds) {
			first[move.Kind]++
		}
	}
	if len(moves) < len(kinds) || len(first) != len(kinds) {
		t.Errorf("the first of %d moves are %v", len(moves), first)
	}
	if without := moveKinds(true); len(without) != len(kinds)-1 || slices.Contains(without, aProjectSetBack) {
		t.Errorf("without Milo the kinds are %v", without)
	}
}
