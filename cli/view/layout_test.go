// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestTreeInNarrowTerminal: with 40 columns reasons and messages are below their objects, and no line is longer.
func TestTreeInNarrowTerminal(t *testing.T) {
	s := &Snapshot{
		Workload: workload(0, 2, condition(v1alpha.ConditionAvailable, "False", v1alpha.ReasonNoAvailablePlacements,
			"no placement is available")),
		Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 0, 2)},
		Instances: []v1alpha.Instance{
			instance("DFW", 0, condition(v1alpha.ConditionReady, "False", v1alpha.ReasonImageUnavailable, "the registry refuses the image")),
			withAddress(instance("DFW", 1, isReady), "10.0.0.1"),
		},
	}
	got := lines(s, Layout{Columns: 40})
	want := []string{
		"Workload web             0/2 Ready",
		"│  NoAvailablePlacements: no placement",
		"│  is available",
		"└─ DFW  web-main-dfw     0/2 Ready",
		"   ├─ web-main-dfw-0     not Ready",
		"   │     ImageUnavailable: the registry",
		"   │     refuses the image",
		"   └─ web-main-dfw-1     Ready",
		"         Available: 10.0.0.1",
	}
	for i := range want { // the columns are as wide as the widest name
		if i >= len(got) || strings.Join(strings.Fields(got[i]), " ") != strings.Join(strings.Fields(want[i]), " ") {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, line := range got {
		if utf8.RuneCountInString(line) > 40 {
			t.Errorf("more than 40 columns: %q", line)
		}
	}
}

func TestTreeWrapsMessages(t *testing.T) {
	s := &Snapshot{Workload: workload(0, 1, condition(v1alpha.ConditionAvailable, "False", "NetworkNotFound", strings.Repeat("word ", 20)))}
	got := lines(s, Layout{Columns: 60})
	if !slices.Equal(got[:1], []string{"Workload web  0/1 Ready  NetworkNotFound"}) || len(got) != 3 {
		t.Errorf("got %q", got)
	}
}

func TestCause(t *testing.T) {
	quota := condition(v1alpha.ConditionQuotaGranted, "False", v1alpha.ReasonQuotaExceeded, "no room")
	pending := condition(v1alpha.ConditionQuotaGranted, "False", v1alpha.ReasonPendingEvaluation, "")
	gates := condition(v1alpha.ConditionReady, "False", v1alpha.ReasonSchedulingGatesPresent, "")
	cases := map[string]struct {
		conditions []metav1.Condition
		types      []string
		want       string
		warning    bool
	}{
		"nothing is known":     {types: instanceConditions},
		"all is well":          {conditions: []metav1.Condition{isReady}, types: instanceConditions},
		"the gate has a cause": {conditions: []metav1.Condition{gates, quota}, types: instanceConditions, want: v1alpha.ReasonQuotaExceeded},
		"the cause passes": {
			conditions: []metav1.Condition{gates, pending}, types: instanceConditions, want: v1alpha.ReasonPendingEvaluation,
		},
		"somebody must act first": {
			conditions: []metav1.Condition{
				gates, pending, condition(v1alpha.ConditionReferencedDataReady, "False", v1alpha.ReasonSourceNotFound, ""),
			}, types: instanceConditions, want: v1alpha.ReasonSourceNotFound,
		},
		"ready with a warning": {
			conditions: []metav1.Condition{
				isReady, condition(v1alpha.ConditionProgrammed, "True", v1alpha.ReasonFieldsNotHonoured, ""),
			}, types: instanceConditions, want: v1alpha.ReasonFieldsNotHonoured, warning: true,
		},
		"a suspended project": {
			conditions: []metav1.Condition{condition(v1alpha.ConditionSuspended, "True", v1alpha.ReasonProjectSuspended, "")},
			types:      deployConditions, want: v1alpha.ReasonProjectSuspended,
		},
		"the report is interrupted": {
			conditions: []metav1.Condition{
				condition(v1alpha.ConditionReplicasReady, "Unknown", v1alpha.ReasonCellNotReady, ""),
				condition(v1alpha.ConditionStatusCurrent, "False", v1alpha.ReasonCellNotReady, ""),
			}, types: deployConditions, want: v1alpha.ReasonCellNotReady,
		},
		"a slice is not reported": {
			conditions: []metav1.Condition{
				condition(v1alpha.ConditionReplicasReady, "True", v1alpha.ReasonStableInstanceFound, ""),
				condition(v1alpha.ConditionStatusCurrent, "False", v1alpha.ReasonNotApplied, ""),
			}, types: deployConditions, want: v1alpha.ReasonNotApplied, warning: true,
		},
		"a deprecated type": {
			conditions: []metav1.Condition{
				condition(v1alpha.ConditionAvailable, "True", v1alpha.ReasonAvailablePlacementFound, ""),
				condition(v1alpha.ConditionInstanceTypeDeprecated, "True", v1alpha.ReasonInstanceTypeDeprecated, ""),
			}, types: workloadConditions, want: v1alpha.ReasonInstanceTypeDeprecated, warning: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := cause(c.conditions, c.types, time.Time{})
			if got == nil {
				if c.want != "" {
					t.Errorf("nothing, want %s", c.want)
				}
				return
			}
			if got.Reason != c.want || got.Warning != c.warning {
				t.Errorf("got %+v, want %s", got, c.want)
			}
		})
	}
}

// TestVerdicts: Instances that wait for the same cause are one verdict, and verdicts that require an action come first.
func TestVerdicts(t *testing.T) {
	full := condition(v1alpha.ConditionReady, "False", v1alpha.ReasonImageUnavailable, "no such image")
	s := &Snapshot{
		Name: "web", Workload: workload(0, 3), Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 0, 3)},
		Instances: []v1alpha.Instance{instance("DFW", 0, isStarting), instance("DFW", 1, full), instance("DFW", 2, full)},
	}
	verdicts := Verdicts(s.Ways())
	if len(verdicts) != 2 || !slices.Equal(verdicts[0].Names, []string{"web-main-dfw-1", "web-main-dfw-2"}) {
		t.Fatalf("got %+v", verdicts)
	}
	s.Instances = nil
	verdicts = Verdicts(s.Ways())
	if len(verdicts) != 1 || verdicts[0].Stop.Kind != v1alpha.KindWorkloadDeployment ||
		verdicts[0].Stop.Finding.Reason != v1alpha.ReasonAwaitingReport {
		t.Errorf("a deployment without Instances: %+v", verdicts)
	}
	s.Deployments = nil
	if verdicts = Verdicts(s.Ways()); len(verdicts) != 1 || verdicts[0].Stop.Kind != v1alpha.KindWorkload {
		t.Errorf("a Workload without deployments: %+v", verdicts)
	}
}
