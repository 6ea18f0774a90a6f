// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"maps"
	"slices"
	"strings"
	"testing"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func newBinding(cells ...string) *workv1alpha2.ResourceBinding {
	binding := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Name: "web-workloaddeployment"}}
	binding.Spec.Resource = workv1alpha2.ObjectReference{APIVersion: "compute.datumapis.com/v1alpha", Kind: "WorkloadDeployment", Name: "web"}
	for _, cell := range cells {
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell, Replicas: 1})
	}
	return binding
}

// reporting returns a binding to cells that report this JSON, by name.
func reporting(raw map[string]string) *workv1alpha2.ResourceBinding {
	cells := slices.Sorted(maps.Keys(raw))
	binding := newBinding(cells...)
	for _, cell := range cells {
		item := workv1alpha2.AggregatedStatusItem{ClusterName: cell}
		if raw[cell] != "" {
			item.Status = &runtime.RawExtension{Raw: []byte(raw[cell])}
		}
		binding.Status.AggregatedStatus = append(binding.Status.AggregatedStatus, item)
	}
	return binding
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
	copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 5}}
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
			binding := trimBinding(t, reporting(map[string]string{"a": test.report, "b": ""}))
			if got := MayRun(binding, copied, "a", 1); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if !MayRun(nil, copied, "a", 1) || !MayRun(reporting(map[string]string{"b": "{}"}), copied, "a", 1) {
		t.Error("a cell of which nothing is known may run anything")
	}
}

func TestTrim(t *testing.T) {
	full := reporting(map[string]string{
		"a": `{"readyReplicas":3,"indices":[{"existing":"1","ready":"1"}],"reports":[{"instances":[{"index":1}]}]}`, "b": "",
	})
	full.Labels = map[string]string{"some": "label"}
	full.OwnerReferences = []metav1.OwnerReference{{UID: "other"}, {UID: "copy", Name: "web", Controller: new(true)}}
	full.Spec.GracefulEvictionTasks = []workv1alpha2.GracefulEvictionTask{{FromCluster: "c", Reason: "lost"}}
	full.Status.Conditions = []metav1.Condition{{Type: workv1alpha2.Scheduled}, {Type: workv1alpha2.FullyApplied}}
	got := trimBinding(t, full)
	if got.Name != full.Name || len(got.Labels) > 0 || len(got.Spec.Clusters) != 2 || len(got.Status.Conditions) != 1 ||
		string(got.Status.AggregatedStatus[0].Status.Raw) != `{"readyReplicas":3,"indices":[{"existing":"1"}]}` {
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
	if again := trimBinding(t, got); len(again.Spec.Clusters) != 2 || len(again.Status.AggregatedStatus) != 2 {
		t.Errorf("trimmed again: %+v", again)
	}
}

func TestTrimDropsWhatNobodyReads(t *testing.T) {
	one := func() *workv1alpha2.ResourceBinding { return reporting(map[string]string{"a": "{}"}) }
	tests := map[string]struct {
		change       func(*workv1alpha2.ResourceBinding)
		wantClusters int
		wantReports  int
	}{
		"of another kind":     {func(b *workv1alpha2.ResourceBinding) { b.Spec.Resource.Kind = "Deployment" }, 0, 0},
		"of another API":      {func(b *workv1alpha2.ResourceBinding) { b.Spec.Resource.APIVersion = "apps/v1" }, 0, 0},
		"of the only cell":    {func(b *workv1alpha2.ResourceBinding) { b.Spec.Placement = &policyv1alpha1.Placement{} }, 1, 1},
		"without a placement": {func(*workv1alpha2.ResourceBinding) {}, 1, 1},
		"of one cell of several": {func(b *workv1alpha2.ResourceBinding) {
			b.Spec.Placement = &policyv1alpha1.Placement{
				ReplicaScheduling: &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided},
			}
		}, 1, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			binding := one()
			test.change(binding)
			got := trimBinding(t, binding)
			if len(got.Spec.Clusters) != test.wantClusters || len(got.Status.AggregatedStatus) != test.wantReports ||
				IsDivided(got) != IsDivided(binding) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestIndicesOfTheOnlyCell: a report without indices does not prove that an Instance is gone.
func TestIndicesOfTheOnlyCell(t *testing.T) {
	copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 5}}
	binding := trimBinding(t, reporting(map[string]string{
		"a": `{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":5,"readyReplicas":1,"indices":[{"existing":"1"}]}`,
	}))
	if got := ReportOf(binding, "a"); got == nil || got.Numbers() != [6]int64{2, 2, 5, 0, 1, 0} || len(got.Indices) > 0 {
		t.Errorf("the report is %+v", got)
	}
	if !MayRun(binding, copied, "a", 1) {
		t.Error("a report without indices says which Instances are gone")
	}
}

func TestTrimLeavesOtherObjects(t *testing.T) {
	deployment := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
	if got, err := TrimBinding(deployment); err != nil || got != any(deployment) || deployment.Labels["a"] != "b" {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestSuspendedReport: Suspended is the only condition in the trimmed report.
func TestSuspendedReport(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"generation":1,"conditions":[{"type":"Available","status":"True"},{"type":"Suspended","status":"True"}]}`: true,
		`{"generation":1,"conditions":[{"type":"Suspended","status":"False"}]}`:                                     false,
		`{"generation":1,"conditions":[{"type":"Available","status":"True"}]}`:                                      false,
		`{"generation":1}`: false,
	} {
		for _, indices := range []bool{true, false} {
			trimmed := TrimReport(&runtime.RawExtension{Raw: []byte(raw)}, indices)
			if got := DecodeReport(trimmed); got.Suspended() != want || got.Numbers()[5] == 1 != want ||
				strings.Contains(string(trimmed.Raw), "Available") {
				t.Errorf("of %s is left %s", raw, trimmed.Raw)
			}
		}
	}
}

// TestReportsWithFaults: a field of a wrong type costs that field, and proves nothing.
func TestReportsWithFaults(t *testing.T) {
	t.Parallel()
	copied := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 5}}
	const of = `"resourceTemplateGeneration":5`
	const current = `{"generation":2,"observedGeneration":2,` + of
	for name, test := range map[string]struct {
		report  string
		numbers [6]int64
		mayRun  bool
	}{
		"a count": {
			current + `,"replicas":2,"readyReplicas":"2","indices":[{"existing":"0"}]}`, [6]int64{2, 2, 5, 2, 0, 0}, false,
		},
		"a field that is not read here": {current + `,"indices":[{"existing":"0","held":7}]}`, [6]int64{2, 2, 5, 0, 0, 0}, false},
		"conditions": {
			current + `,"replicas":1,"conditions":[7],"indices":[{"existing":"0"}]}`, [6]int64{2, 2, 5, 1, 0, 0}, false,
		},
		"one text of a condition": {
			`{"replicas":1,"conditions":[{"type":7},{"type":"Suspended","status":"True"}]}`, [6]int64{0, 0, 0, 1, 0, 1}, true,
		},
		"indices":       {current + `,"indices":[7]}`, [6]int64{2, 2, 5, 0, 0, 0}, true},
		"an index text": {current + `,"indices":[{"existing":7}]}`, [6]int64{2, 2, 5, 0, 0, 0}, true},
		"a generation": {
			`{"generation":"2",` + of + `,"readyReplicas":1,"indices":[{"existing":"0"}]}`, [6]int64{-1, 0, 5, 0, 1, 0}, true,
		},
		"the other generation": {
			`{"observedGeneration":{},` + of + `,"readyReplicas":1,"indices":[{"existing":"0"}]}`, [6]int64{0, -2, 5, 0, 1, 0}, true,
		},
		"both generations": {
			`{"generation":[1],"observedGeneration":"2",` + of + `,"indices":[{"existing":"0"}]}`, [6]int64{-1, -2, 5, 0, 0, 0}, true,
		},
		"the copy's generation": {
			`{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":"5","indices":[{"existing":"0"}]}`,
			[6]int64{2, 2, 0, 0, 0, 0},
			true,
		},
	} {
		// A report of several cells has its indices; the report of one has none.
		binding := trimBinding(t, trimBinding(t, reporting(map[string]string{"a": test.report, "b": ""})))
		found := ReportOf(binding, "a")
		if found == nil || found.Numbers() != test.numbers || MayRun(binding, copied, "a", 1) != test.mayRun {
			t.Errorf("%s: the report is %+v, the Instance may run: %t", name, found, MayRun(binding, copied, "a", 1))
		}
		if alone := ReportOf(trimBinding(t, reporting(map[string]string{"a": test.report})), "a"); alone == nil ||
			alone.Numbers() != test.numbers {
			t.Errorf("%s: the report of the only cell is %+v", name, alone)
		}
	}
}
