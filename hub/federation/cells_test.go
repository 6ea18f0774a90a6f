// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"slices"
	"testing"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func lostFor(name string, d time.Duration) cell { return cell{name: name, since: now.Add(-d)} }

// TestLostCells: a cell is given up after the configured time, and only for another one.
func TestLostCells(t *testing.T) {
	ready := cell{name: "ready", ready: true, since: now}
	cases := map[string]struct {
		cells     []cell
		after     time.Duration
		want      []string
		wantAgain time.Duration
	}{
		"none is lost":           {cells: []cell{ready}, after: time.Minute},
		"lost for long":          {cells: []cell{ready, lostFor("a", time.Minute)}, after: time.Minute, want: []string{"a"}},
		"lost for less":          {cells: []cell{ready, lostFor("a", time.Second), lostFor("b", 2*time.Second)}, after: time.Minute, wantAgain: 58 * time.Second},
		"one of each":            {cells: []cell{ready, lostFor("a", time.Hour), lostFor("b", 0)}, after: time.Minute, want: []string{"a"}, wantAgain: time.Minute},
		"all are lost":           {cells: []cell{lostFor("a", time.Hour), lostFor("b", time.Hour)}, after: time.Minute},
		"nothing is to be moved": {cells: []cell{ready, lostFor("a", time.Hour)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPass()
			p.cells = c.cells
			p.Reconciler = &Reconciler{FailoverAfter: c.after, Clock: testingclock.NewFakePassiveClock(now)}
			if got := p.city(); !slices.Equal(got.Lost, c.want) || got.Cells != len(c.cells) || p.again != c.wantAgain {
				t.Errorf("lost %v of %d, again %s; want %v and %s", got.Lost, got.Cells, p.again, c.want, c.wantAgain)
			}
		})
	}
}

func bindingTo(targets map[string]int32) *workv1alpha2.ResourceBinding {
	binding := &workv1alpha2.ResourceBinding{}
	binding.Spec.Resource = workv1alpha2.ObjectReference{APIVersion: "compute.datumapis.com/v1alpha", Kind: "WorkloadDeployment", Name: "web-main-dfw"}
	for name, replicas := range targets {
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: name, Replicas: replicas})
	}
	return binding
}

func TestShares(t *testing.T) {
	a, b := cell{name: "a", ready: true}, cell{name: "b", ready: true}
	cases := map[string]struct {
		cells   []cell
		binding *workv1alpha2.ResourceBinding
		most    int32
		want    map[string]int
	}{
		"no cell":                               {},
		"one cell needs no decision":            {cells: []cell{a}, want: map[string]int{"a": 3}},
		"one cell has what is asked for now":    {cells: []cell{a}, binding: bindingTo(map[string]int32{"a": 2}), want: map[string]int{"a": 3}},
		"one cell may scale by itself":          {cells: []cell{a}, most: 7, want: map[string]int{"a": 7}},
		"one is left, and still not told so":    {cells: []cell{a}, binding: bindingTo(map[string]int32{"a": 2, "b": 1}), want: map[string]int{"a": 2, "b": 1}},
		"two cells wait for Karmada":            {cells: []cell{a, b}},
		"two cells have what Karmada gave them": {cells: []cell{a, b}, binding: bindingTo(map[string]int32{"a": 2, "b": 1}), want: map[string]int{"a": 2, "b": 1}},
		"Karmada has decided nothing":           {cells: []cell{a, b}, binding: bindingTo(nil)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPass()
			p.cells = c.cells
			if c.most > 0 {
				p.deployment.Spec.ScaleSettings.MaxReplicas, p.deployment.Spec.ScaleSettings.Metrics = &c.most, make([]v1alpha.MetricSpec, 1)
			}
			if got := p.shares(c.binding); !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestAlone: with another cell in the city, or one that had a part, an index is given up before another gets it.
func TestAlone(t *testing.T) {
	a, b := cell{name: "a", ready: true}, cell{name: "b", ready: true}
	both := assigned(cellWith("a", []int{0}), cellWith("b", []int{1}))
	cases := map[string]struct {
		cells   []cell
		current *v1alpha.WorkloadDeploymentAssignment
		want    bool
	}{
		"one cell":              {cells: []cell{a}, want: true},
		"one cell that had all": {cells: []cell{a}, current: assigned(cellWith("a", []int{0})), want: true},
		"one cell is left":      {cells: []cell{a}, current: both},
		"two cells":             {cells: []cell{a, b}, current: assigned(cellWith("a", []int{0}))},
		"no cell":               {},
	}
	for name, c := range cases {
		p := newPass()
		p.cells = c.cells
		if got := p.alone(c.current, map[string]int{"a": 1}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func reporting(raw map[string]string) *workv1alpha2.ResourceBinding {
	binding := bindingTo(map[string]int32{"a": 1, "b": 1})
	for _, cell := range slices.Sorted(maps.Keys(raw)) {
		item := workv1alpha2.AggregatedStatusItem{ClusterName: cell}
		if raw[cell] != "" {
			item.Status = &runtime.RawExtension{Raw: []byte(raw[cell])}
		}
		binding.Status.AggregatedStatus = append(binding.Status.AggregatedStatus, item)
	}
	return binding
}

// TestMayRun: a cell has given an index up when it says so of the newest copy.
func TestMayRun(t *testing.T) {
	existing := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 5}}
	const current = `"generation":2,"observedGeneration":2,"resourceTemplateGeneration":5`
	for report, want := range map[string]bool{
		``:        true,
		`garbage`: true,
		`{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":4}`: true,
		`{"generation":3,"observedGeneration":2,"resourceTemplateGeneration":5}`: true,
		`{` + current + `,"instances":[{"name":"web-1"}]}`:                       true,
		`{` + current + `,"instances":[{"name":"web-10"}]}`:                      false,
		`{` + current + `}`: false,
	} {
		p := newPass()
		trimmed, err := TrimBinding(reporting(map[string]string{"a": report, "b": ""}))
		if err != nil {
			t.Fatal(err)
		}
		binding, _ := trimmed.(*workv1alpha2.ResourceBinding)
		if got := p.mayRun(binding, existing, "a", 1); got != want {
			t.Errorf("%s: %t, want %t", report, got, want)
		}
	}
}

func TestTrimBinding(t *testing.T) {
	binding := reporting(map[string]string{"a": `{"readyReplicas":3,"instances":[{"name":"web-1","templateHash":"x"}]}`, "b": ""})
	binding.Name, binding.Labels = "web-workloaddeployment", map[string]string{"some": "label"}
	binding.Status.Conditions = []metav1.Condition{{Type: workv1alpha2.Scheduled}, {Type: workv1alpha2.FullyApplied}}
	trimmed, err := TrimBinding(binding)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := trimmed.(*workv1alpha2.ResourceBinding)
	if got.Name != binding.Name || len(got.Labels) > 0 || len(got.Spec.Clusters) != 2 || len(got.Status.Conditions) != 1 ||
		string(got.Status.AggregatedStatus[0].Status.Raw) != `{"instances":[{"name":"web-1"}]}` {
		t.Errorf("got %+v", got)
	}
	if len(binding.Status.Conditions) != 2 {
		t.Error("the original was changed")
	}
	binding.Spec.Resource.Kind = "Deployment"
	trimmed, _ = TrimBinding(binding)
	if got, _ = trimmed.(*workv1alpha2.ResourceBinding); len(got.Spec.Clusters) > 0 || len(got.Status.AggregatedStatus) > 0 {
		t.Errorf("somebody else's is kept: %+v", got)
	}
	single := bindingTo(map[string]int32{"a": 1})
	single.Spec.Placement = &policyv1alpha1.Placement{}
	single.Status.AggregatedStatus = binding.Status.AggregatedStatus[:1]
	trimmed, _ = TrimBinding(single)
	if got, _ = trimmed.(*workv1alpha2.ResourceBinding); len(got.Status.AggregatedStatus) > 0 {
		t.Errorf("the report of an only cell is kept: %+v", got)
	}
	single.Spec.Placement.ReplicaScheduling = &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided}
	trimmed, _ = TrimBinding(single)
	if got, _ = trimmed.(*workv1alpha2.ResourceBinding); len(got.Status.AggregatedStatus) != 1 || got.Spec.Placement != nil {
		t.Errorf("of a cell that has all, of several, is kept %+v", got)
	}
}

// TestCellNameIsKarmadas: cells read their name out of what Karmada writes, without Karmada's library.
func TestCellNameIsKarmadas(t *testing.T) {
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		workv1alpha2.WorkNamespaceAnnotation: karmadanames.GenerateExecutionSpaceName("iad-1"),
	}}}
	if got := d.Cell(); got != "iad-1" {
		t.Errorf("the cell is %q", got)
	}
}
