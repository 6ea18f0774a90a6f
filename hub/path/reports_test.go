// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"maps"
	"slices"
	"testing"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func newBinding(cells ...string) *workv1alpha2.ResourceBinding {
	binding := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: hubNamespace, Name: "web-workloaddeployment"}}
	binding.Spec.Resource = workv1alpha2.ObjectReference{APIVersion: "compute.datumapis.com/v1alpha", Kind: "WorkloadDeployment", Name: "web"}
	for _, cell := range cells {
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell, Replicas: 1})
	}
	return binding
}

// reporting returns the reports of cells, as JSON by name, on a copy of generation 5, as the cache has them.
func reporting(t testing.TB, raw map[string]string) *Reports {
	t.Helper()
	copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: hubNamespace, Name: "web", UID: "copy", Generation: 5}}
	works := map[string]*workv1alpha1.Work{}
	for cell, report := range raw {
		work := planes.WorkOf(t, copied, cell)
		if report != "" {
			work.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &runtime.RawExtension{Raw: []byte(report)}}}
		}
		works[cell] = trimmed(t, trimmed(t, work))
	}
	return ReportsIn(copied, newBinding(slices.Sorted(maps.Keys(raw))...), works)
}

func trimBinding(t *testing.T, binding *workv1alpha2.ResourceBinding) *workv1alpha2.ResourceBinding {
	t.Helper()
	trimmed, err := TrimBinding(binding)
	if err != nil {
		t.Fatal(err)
	}
	result, ok := trimmed.(*workv1alpha2.ResourceBinding)
	if !ok {
		t.Fatalf("got %T", trimmed)
	}
	return result
}

// TestMayRun: a cell has released an index when its report on the newest copy does not list the index.
func TestMayRun(t *testing.T) {
	const current = `"generation":2,"observedGeneration":2,"resourceTemplateGeneration":5`
	tests := map[string]struct {
		report string
		want   bool
	}{
		"no report":                   {``, true},
		"an unreadable report":        {`garbage`, true},
		"of an earlier copy":          {`{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":4}`, true},
		"before it acted on the copy": {`{"generation":3,"observedGeneration":2,"resourceTemplateGeneration":5}`, true},
		"with its index":              {`{` + current + `,"indices":[{"existing":"0-3,7","ready":"2"}]}`, true},
		"with other indices":          {`{` + current + `,"indices":[{"existing":"0,2-3,11"}]}`, false},
		"with indices of no meaning":  {`{` + current + `,"indices":[{"existing":"1-,x,-1,0-99999,3-0"}]}`, false},
		"without any Instance":        {`{` + current + `,"indices":[{"templateHash":"x"}]}`, false},
		"without indices":             {`{` + current + `}`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := reporting(t, map[string]string{"a": test.report, "b": ""}).MayRun("a", 1); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if !reporting(t, nil).MayRun("a", 1) || !reporting(t, map[string]string{"b": "{}"}).MayRun("a", 1) {
		t.Error("a cell of which nothing is known may run anything")
	}
}

func TestTrim(t *testing.T) {
	full := newBinding("a", "b")
	full.Labels = map[string]string{"some": "label"}
	full.OwnerReferences = []metav1.OwnerReference{{UID: "other"}, {UID: "copy", Name: "web", Controller: new(true)}}
	full.Spec.GracefulEvictionTasks = []workv1alpha2.GracefulEvictionTask{{FromCluster: "c", Reason: "lost"}}
	full.Status.Conditions = []metav1.Condition{{Type: workv1alpha2.Scheduled}, {Type: workv1alpha2.FullyApplied}}
	full.Status.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{{ClusterName: "a", Status: &runtime.RawExtension{Raw: []byte("{}")}}}
	got := trimBinding(t, full)
	if got.Name != full.Name || len(got.Labels) > 0 || len(got.Spec.Clusters) != 2 || len(got.Status.Conditions) != 1 ||
		len(got.Status.AggregatedStatus) > 0 {
		t.Errorf("got %+v", got)
	}
	if owner := metav1.GetControllerOf(got); owner == nil || owner.UID != "copy" || len(got.OwnerReferences) != 1 ||
		got.Spec.GracefulEvictionTasks[0].FromCluster != "c" || got.Spec.GracefulEvictionTasks[0].Reason != "" {
		t.Errorf("the owner is %+v, the evictions are %+v", owner, got.Spec.GracefulEvictionTasks)
	}
	if len(full.Status.Conditions) != 2 {
		t.Error("the original was changed")
	}
	// A binding that Trim has trimmed already passes through it unchanged.
	if again := trimBinding(t, got); len(again.Spec.Clusters) != 2 {
		t.Errorf("trimmed again: %+v", again)
	}
}

func TestTrimDropsWhatNobodyReads(t *testing.T) {
	tests := map[string]struct {
		change       func(*workv1alpha2.ResourceBinding)
		wantClusters int
	}{
		"of another kind":     {func(b *workv1alpha2.ResourceBinding) { b.Spec.Resource.Kind = "Deployment" }, 0},
		"of another API":      {func(b *workv1alpha2.ResourceBinding) { b.Spec.Resource.APIVersion = "apps/v1" }, 0},
		"of the only cell":    {func(b *workv1alpha2.ResourceBinding) { b.Spec.Placement = &policyv1alpha1.Placement{} }, 1},
		"without a placement": {func(*workv1alpha2.ResourceBinding) {}, 1},
		"of one cell of several": {func(b *workv1alpha2.ResourceBinding) {
			b.Spec.Placement = &policyv1alpha1.Placement{
				ReplicaScheduling: &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided},
			}
		}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			binding := newBinding("a")
			test.change(binding)
			if got := trimBinding(t, binding); len(got.Spec.Clusters) != test.wantClusters || IsDivided(got) != IsDivided(binding) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestReportsThatDoNotCount: a Work of an earlier copy, or one that is being deleted, says nothing about the copy.
func TestReportsThatDoNotCount(t *testing.T) {
	const current = `{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":5,"replicas":1,"indices":[{"existing":"0"}]}`
	now := metav1.Now()
	for name, change := range map[string]func(*v1alpha.WorkloadDeployment, *workv1alpha1.Work){
		"of another copy": func(copied *v1alpha.WorkloadDeployment, _ *workv1alpha1.Work) { copied.UID = "next" },
		"being deleted":   func(_ *v1alpha.WorkloadDeployment, work *workv1alpha1.Work) { work.DeletionTimestamp = &now },
		"without one":     func(_ *v1alpha.WorkloadDeployment, work *workv1alpha1.Work) { work.Status.ManifestStatuses = nil },
	} {
		r := reporting(t, map[string]string{"a": current})
		if status := r.Status(); status.Replicas != 1 || status.ObservedGeneration != 5 || r.MayRun("a", 1) {
			t.Fatalf("the report is %+v", status)
		}
		work := r.works["a"]
		change(r.copied, work)
		r = ReportsIn(r.copied, r.Binding, map[string]*workv1alpha1.Work{"a": work})
		status := r.Status()
		if status.Replicas != 0 || status.ObservedGeneration != 0 || r.OfCell("a") != nil || !r.MayRun("a", 1) || r.Nowhere() {
			t.Errorf("%s: %+v", name, status)
		}
	}
}

// TestNowhere: the deployment runs nowhere only if Karmada has refused it, and no cell has, or is losing, a Work of it.
func TestNowhere(t *testing.T) {
	refused := func(cells ...string) *workv1alpha2.ResourceBinding {
		binding := newBinding(cells...)
		binding.Spec.Resource.UID = "copy"
		binding.Status.Conditions = []metav1.Condition{{Type: workv1alpha2.Scheduled, Status: metav1.ConditionFalse, Message: "full"}}
		return binding
	}
	copied := reporting(t, nil).copied
	of := func(binding *workv1alpha2.ResourceBinding, works map[string]*workv1alpha1.Work) bool {
		return ReportsIn(copied, binding, works).Nowhere()
	}
	if !of(refused(), nil) {
		t.Error("it runs nowhere")
	}
	undecided := refused()
	undecided.Status.Conditions = nil
	earlier := refused()
	earlier.Spec.Resource.UID = "earlier"
	if of(nil, nil) || of(undecided, nil) || of(earlier, nil) || of(refused("a"), nil) ||
		of(refused(), map[string]*workv1alpha1.Work{"a": planes.WorkOf(t, copied, "a")}) {
		t.Error("it may run somewhere")
	}
}

func TestTrimLeavesOtherObjects(t *testing.T) {
	deployment := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
	if got, err := TrimBinding(deployment); err != nil || got != any(deployment) || deployment.Labels["a"] != "b" {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestSuspendedReport: a cell confirms that it has stopped the deployment.
func TestSuspendedReport(t *testing.T) {
	const at = `"reason":"Test","lastTransitionTime":"2026-01-01T00:00:00Z"`
	for raw, want := range map[string]bool{
		`{"conditions":[{"type":"Available","status":"True",` + at + `},{"type":"Suspended","status":"True",` + at + `}]}`: true,
		`{"conditions":[{"type":"Suspended","status":"False",` + at + `}]}`:                                                false,
		`{"conditions":[{"type":"Available","status":"True",` + at + `}]}`:                                                 false,
		`{"generation":1}`: false,
	} {
		if got := DecodeReport(&runtime.RawExtension{Raw: []byte(raw)}); got.Suspended() != want {
			t.Errorf("%s confirms it: %t", raw, got.Suspended())
		}
	}
}

// TestReportsWithFaults: a field of a wrong type costs that field, and proves nothing.
func TestReportsWithFaults(t *testing.T) {
	t.Parallel()
	const of = `"resourceTemplateGeneration":5`
	const current = `{"generation":2,"observedGeneration":2,` + of
	for name, test := range map[string]struct {
		report string
		// numbers are the generations, and how many Instances there are and are Ready.
		numbers [5]int64
		mayRun  bool
	}{
		"a count": {
			current + `,"replicas":2,"readyReplicas":"2","indices":[{"existing":"0"}]}`, [5]int64{2, 2, 5, 2, -1}, false,
		},
		"a field that is not read here": {current + `,"indices":[{"existing":"0","dataMissing":7}]}`, [5]int64{2, 2, 5, 0, 0}, false},
		"conditions": {
			current + `,"replicas":1,"conditions":[7],"indices":[{"existing":"0"}]}`, [5]int64{2, 2, 5, 1, 0}, false,
		},
		"one text of a condition": {
			`{"replicas":1,"conditions":[{"type":7},{"type":"Suspended","status":"True"}]}`, [5]int64{0, 0, 0, 1, 0}, true,
		},
		"indices":       {current + `,"indices":[7]}`, [5]int64{2, 2, 5, 0, 0}, true},
		"an index text": {current + `,"indices":[{"existing":7}]}`, [5]int64{2, 2, 5, 0, 0}, true},
		"a generation": {
			`{"generation":"2",` + of + `,"readyReplicas":1,"indices":[{"existing":"0"}]}`, [5]int64{-1, 0, 5, 0, 1}, true,
		},
		"the other generation": {
			`{"observedGeneration":{},` + of + `,"readyReplicas":1,"indices":[{"existing":"0"}]}`, [5]int64{0, -2, 5, 0, 1}, true,
		},
		"both generations": {
			`{"generation":[1],"observedGeneration":"2",` + of + `,"indices":[{"existing":"0"}]}`, [5]int64{-1, -2, 5, 0, 0}, true,
		},
		"the copy's generation": {
			`{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":"5","indices":[{"existing":"0"}]}`, [5]int64{2, 2, -1, 0, 0}, true,
		},
	} {
		reports := reporting(t, map[string]string{"a": test.report})
		found := reports.OfCell("a")
		if found == nil {
			t.Fatalf("%s: no report", name)
		}
		got := [5]int64{
			found.Generation, found.ObservedGeneration, found.ResourceTemplateGeneration, int64(found.Replicas), int64(found.ReadyReplicas),
		}
		if got != test.numbers || reports.MayRun("a", 1) != test.mayRun {
			t.Errorf("%s: the report is %v, the Instance may run: %t", name, got, reports.MayRun("a", 1))
		}
	}
}
