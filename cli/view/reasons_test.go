// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

var update = flag.Bool("update", false, "write what explain prints for each reason to the golden file")

// changed is the transition time of the conditions in the tests.
var changed = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// explained returns what explain prints about an object with this condition, which has lasted for some time. Conditions
// of a Cluster are explained by their finding alone.
func explained(c *metav1.Condition, lasted time.Duration) []string {
	c.LastTransitionTime = metav1.NewTime(changed)
	now := changed.Add(lasted)
	s := &Snapshot{Name: "web", Workload: workload(0, 1), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 0, 1)}, Now: now}
	// Of the reasons of DataCurrent, an Instance has one.
	ofWorkload := c.Type == v1alpha.ConditionDataCurrent && c.Reason != v1alpha.ReasonRestartPending
	switch {
	case slices.Contains(instanceConditions, c.Type) && !ofWorkload && c.Type != v1alpha.ConditionReferencedDataReady:
		s.Instances = []v1alpha.Instance{instance("DFW", 0, *c)}
	case slices.Contains(deployConditions, c.Type):
		s.Deployments[0].Status.Conditions = []metav1.Condition{*c}
	case slices.Contains(workloadConditions, c.Type):
		s.Deployments = nil
		s.Workload.Status.Conditions = []metav1.Condition{*c}
	default:
		step := &Step{Plane: planeHub, Kind: "Cluster", Name: "cell", Finding: findingOf(c, at(now, []metav1.Condition{*c}))}
		return Verdict{Stop: step, Names: []string{"cell"}}.Lines(now, 0)
	}
	var lines []string
	for _, verdict := range Verdicts(s.Ways()) {
		lines = append(lines, verdict.Lines(now, 0)...)
	}
	return lines
}

// unhealthy returns the status of a condition whose reason reports a fault.
func unhealthy(conditionType string) metav1.ConditionStatus {
	if slices.Contains(trueIsBad, conditionType) {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// TestExplainEveryReason renders what explain prints for every reason: at once, and when the reason has lasted too
// long.
func TestExplainEveryReason(t *testing.T) {
	var golden strings.Builder
	for _, remedy := range reasons.All() {
		for _, conditionType := range remedy.Conditions {
			// Other conditions have the fault of a deployment whose progress has not exceeded its deadline.
			progresses := conditionType == v1alpha.ConditionProgressing && remedy.Reason != v1alpha.ReasonProgressDeadlineExceeded
			if remedy.Rank == reasons.RankWell || progresses {
				continue
			}
			fmt.Fprintf(&golden, "%s %s\n", conditionType, remedy.Reason)
			fmt.Fprintln(&golden, explainReason(t, &remedy, conditionType, time.Second))
			if remedy.Normal > 0 {
				fmt.Fprintln(&golden, explainReason(t, &remedy, conditionType, remedy.Normal+time.Second))
			}
		}
	}
	compareGolden(t, golden.String())
}

// explainReason checks what explain prints about a condition that has lasted for some time, and returns it.
func explainReason(t *testing.T, remedy *reasons.Remedy, conditionType string, lasted time.Duration) string {
	t.Helper()
	c := &metav1.Condition{
		Type: conditionType, Status: unhealthy(conditionType), Reason: remedy.Reason, Message: "the message",
	}
	text := strings.Join(explained(c, lasted), "\n")
	want := remedy.After(lasted)
	who := string(want.Actor)
	if want.Actor == reasons.ActorNobody {
		who = "nothing to do"
	}
	for _, part := range []string{remedy.Reason, "the message", fmt.Sprintf("-> %s: %s", who, want.Do)} {
		if !strings.Contains(text, part) {
			t.Errorf("%s of %s after %s: %q is missing in\n%s", remedy.Reason, conditionType, lasted, part, text)
		}
	}
	if lasted > remedy.Normal && strings.Contains(text, "nothing to do") {
		t.Errorf("%s of %s after %s: there is nothing to do:\n%s", remedy.Reason, conditionType, lasted, text)
	}
	return text
}

// compareGolden compares a text with the golden file, or writes it there with -update.
func compareGolden(t *testing.T, got string) {
	t.Helper()
	path := filepath.Join("testdata", "explain.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("explain prints something else than %s; see the difference after: go test ./cli/view -run %s -update",
			path, t.Name())
	}
}

// TestTheMostSpecificReason: the scheduler's message is more specific than an unscheduled Pod.
func TestTheMostSpecificReason(t *testing.T) {
	ready := condition(v1alpha.ConditionReady, "False", v1alpha.ReasonUnschedulable, "8 Insufficient cpu")
	programmed := condition(v1alpha.ConditionProgrammed, "False", v1alpha.ReasonProgrammingInProgress, "the Pod has no node yet")
	for _, c := range []*metav1.Condition{&ready, &programmed} {
		c.LastTransitionTime = metav1.NewTime(changed)
	}
	for lasted, want := range map[time.Duration]reasons.Actor{time.Second: reasons.ActorNobody, 10 * time.Minute: reasons.ActorOperator} {
		got := cause([]metav1.Condition{ready, programmed}, instanceConditions, changed.Add(lasted))
		if got.Message != "8 Insufficient cpu" || got.Actor != want {
			t.Errorf("after %s: got %+v, want that the %s acts", lasted, got, want)
		}
	}
	// The Instance's reasons from before its quota was granted do not count.
	granted := condition(v1alpha.ConditionQuotaGranted, "True", v1alpha.ReasonQuotaAvailable, "")
	granted.LastTransitionTime = metav1.NewTime(changed.Add(time.Hour))
	got := cause([]metav1.Condition{ready, programmed, granted}, instanceConditions, changed.Add(time.Hour+time.Second))
	if got.Actor != reasons.ActorNobody {
		t.Errorf("a second after the quota was granted: %+v", got)
	}
}

// TestNames: a verdict on many Instances lists the first names.
func TestNames(t *testing.T) {
	s := &Snapshot{Name: "web", Workload: workload(0, 130), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 0, 130)}}
	for i := range 130 {
		s.Instances = append(s.Instances, instance("DFW", i, isStarting))
	}
	verdicts := Verdicts(s.Ways())
	if len(verdicts) != 1 || len(verdicts[0].Names) != 130 {
		t.Fatalf("got %+v", verdicts)
	}
	text := strings.Join(verdicts[0].Lines(changed, 0), "\n")
	if !strings.Contains(text, "of: web-main-dfw-0, web-main-dfw-1, web-main-dfw-2, web-main-dfw-3, web-main-dfw-4 and 125 more") ||
		strings.Contains(text, "web-main-dfw-5") {
		t.Errorf("got\n%s", text)
	}
	if got := firstNames([]string{"a", "b", "c", "d", "e", "f"}); got != "a, b, c, d, e, f" {
		t.Errorf("the last one is left out: %s", got)
	}
}

// TestTheFirstSecond: an object that was created a moment ago has no conditions and is still progressing.
func TestTheFirstSecond(t *testing.T) {
	s := &Snapshot{Name: "web", Workload: workload(0, 1)}
	s.Workload.CreationTimestamp = metav1.NewTime(changed)
	d := deployment("DFW", 0, 1)
	d.CreationTimestamp = metav1.NewTime(changed)
	i := instance("DFW", 0)
	i.CreationTimestamp = metav1.NewTime(changed)
	for _, test := range []struct {
		add  func()
		want string
	}{
		{func() {}, "created 1s ago; next, the add-on creates its deployments"},
		{func() { s.Deployments = append(s.Deployments, d) }, "created 1s ago; next, the cells of DFW report their Instances"},
		{func() { s.Instances = append(s.Instances, i) }, "created 1s ago; next, the cell of DFW reports its state"},
	} {
		test.add()
		for lasted, actor := range map[time.Duration]reasons.Actor{time.Second: reasons.ActorNobody, time.Minute: reasons.ActorOperator} {
			s.Now = changed.Add(lasted)
			verdicts := Verdicts(s.Ways())
			if len(verdicts) != 1 {
				t.Fatalf("got %+v", verdicts)
			}
			got := verdicts[0].Stop.Finding
			if got.Actor != actor || lasted == time.Second && got.Message != test.want {
				t.Errorf("after %s: got %+v, want %q", lasted, got, test.want)
			}
		}
	}
}
