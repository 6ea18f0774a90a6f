// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"maps"
	"slices"
	"testing"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func lostFor(name string, d time.Duration) cells.Cell {
	return cells.Cell{Name: name, Since: now.Add(-d)}
}

// TestLostCells: a cell is released after the configured time, and only if another one is Ready.
func TestLostCells(t *testing.T) {
	ready := cells.Cell{Name: "ready", Ready: true, Since: now.Add(-24 * time.Hour)}
	again := cells.Cell{Name: "ready", Ready: true, Since: now.Add(-time.Second)}
	cases := map[string]struct {
		cells       cells.Cells
		after       time.Duration
		want        []string
		wantRequeue time.Duration
	}{
		"none is lost":  {cells: cells.Cells{ready}, after: time.Minute},
		"lost for long": {cells: cells.Cells{ready, lostFor("a", time.Minute)}, after: time.Minute, want: []string{"a"}},
		"lost for less": {
			cells: cells.Cells{ready, lostFor("a", time.Second), lostFor("b", 2*time.Second)}, after: time.Minute, wantRequeue: 58 * time.Second,
		},
		"one of each": {
			cells: cells.Cells{ready, lostFor("a", time.Hour), lostFor("b", 0)}, after: time.Minute, want: []string{"a"}, wantRequeue: time.Minute,
		},
		"all are lost": {cells: cells.Cells{lostFor("a", time.Hour), lostFor("b", time.Hour)}, after: time.Minute},
		"all were lost, and the first is reached again": {
			cells: cells.Cells{again, lostFor("a", time.Hour), lostFor("b", time.Hour)}, after: time.Minute,
			wantRequeue: 74 * time.Second,
		},
		"nothing is to be moved": {cells: cells.Cells{ready, lostFor("a", time.Hour)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScope()
			s.cells, s.allCells = c.cells, c.cells
			s.Reconciler = New(Options{FailoverAfter: c.after, Clock: testingclock.NewFakePassiveClock(now)})
			got, requeued := s.city(), s.requeueAfter.Result().RequeueAfter
			if !slices.Equal(got.Lost, c.want) || len(got.Cells) != len(c.cells) || requeued != c.wantRequeue {
				t.Errorf("lost %v of %v, requeued after %s; want %v and %s", got.Lost, got.Cells, requeued, c.want, c.wantRequeue)
			}
		})
	}
}

func bindingTo(targets map[string]int32) *workv1alpha2.ResourceBinding {
	binding := &workv1alpha2.ResourceBinding{}
	binding.Spec.Resource = workv1alpha2.ObjectReference{
		APIVersion: "compute.datumapis.com/v1alpha", Kind: "WorkloadDeployment", Name: "web-main-dfw",
	}
	for name, replicas := range targets {
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: name, Replicas: replicas})
	}
	return binding
}

func TestShares(t *testing.T) {
	a, b := cells.Cell{Name: "a", Ready: true}, cells.Cell{Name: "b", Ready: true}
	cases := map[string]struct {
		cells   cells.Cells
		binding *workv1alpha2.ResourceBinding
		want    map[string]int
	}{
		"no cell":                    {},
		"one cell needs no decision": {cells: cells.Cells{a}, want: map[string]int{"a": 3}},
		"one cell has what is asked for now": {
			cells: cells.Cells{a}, binding: bindingTo(map[string]int32{"a": 2}), want: map[string]int{"a": 3},
		},
		"one is left, and still not told so": {
			cells: cells.Cells{a}, binding: bindingTo(map[string]int32{"a": 2, "b": 1}), want: map[string]int{"a": 2, "b": 1},
		},
		"two cells wait for Karmada": {cells: cells.Cells{a, b}},
		"two cells have what Karmada gave them": {
			cells: cells.Cells{a, b}, binding: bindingTo(map[string]int32{"a": 2, "b": 1}), want: map[string]int{"a": 2, "b": 1},
		},
		"Karmada has decided nothing": {cells: cells.Cells{a, b}, binding: bindingTo(nil)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScope()
			s.cells, s.allCells = c.cells, c.cells
			if got := s.shares(c.binding); !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestRoom: autoscalers in several cells together never exceed maxReplicas.
func TestRoom(t *testing.T) {
	perInstance := []v1alpha.MetricSpec{
		{Resource: &v1alpha.ResourceMetricSource{Target: v1alpha.MetricTarget{AverageUtilization: new(int32(50))}}},
	}
	cases := map[string]struct {
		shares map[string]int
		most   int32
		want   map[string]int
	}{
		"no autoscaler":            {shares: map[string]int{"a": 3}, want: map[string]int{"a": 3}},
		"one cell":                 {shares: map[string]int{"a": 3}, most: 7, want: map[string]int{"a": 7}},
		"two cells":                {shares: map[string]int{"a": 1, "b": 2}, most: 8, want: map[string]int{"a": 3, "b": 5}},
		"one of them has no share": {shares: map[string]int{"a": 3, "b": 0}, most: 5, want: map[string]int{"a": 5, "b": 0}},
		"more run than are wanted": {shares: map[string]int{"a": 5, "b": 4}, most: 8, want: map[string]int{"a": 5, "b": 4}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScope()
			if c.most > 0 {
				s.deployment.Spec.ScaleSettings.MaxReplicas, s.deployment.Spec.ScaleSettings.Metrics = &c.most, perInstance
			}
			if got := s.withRoom(c.shares); !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestAlone: with another cell in the city, or a cell that had a share, an index is released before another cell gets
// it.
func TestAlone(t *testing.T) {
	a, b := cells.Cell{Name: "a", Ready: true}, cells.Cell{Name: "b", Ready: true}
	both := assigned(cellWith("a", []int{0}), cellWith("b", []int{1}))
	cases := map[string]struct {
		cells   cells.Cells
		current *v1alpha.WorkloadDeploymentAssignment
		want    bool
	}{
		"one cell":              {cells: cells.Cells{a}, want: true},
		"one cell that had all": {cells: cells.Cells{a}, current: assigned(cellWith("a", []int{0})), want: true},
		"one cell is left":      {cells: cells.Cells{a}, current: both},
		"two cells":             {cells: cells.Cells{a, b}, current: assigned(cellWith("a", []int{0}))},
		"no cell":               {},
	}
	for name, c := range cases {
		s := newScope()
		s.cells = c.cells
		if got := s.alone(c.current, map[string]int{"a": 1}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestCellNameIsKarmadas: cells find their name in the objects that Karmada writes, without Karmada's library.
func TestCellNameIsKarmadas(t *testing.T) {
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		workv1alpha2.WorkNamespaceAnnotation: karmadanames.GenerateExecutionSpaceName("iad-1"),
	}}}
	if got := d.Cell(); got != "iad-1" {
		t.Errorf("the cell is %q", got)
	}
}
