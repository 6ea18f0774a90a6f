// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Conditions that only Instances, or only Workloads, have. The others are tried on a deployment.
var (
	ofInstances = []string{v1alpha.ConditionReady, v1alpha.ConditionProgrammed, v1alpha.ConditionQuotaGranted, v1alpha.ConditionDataCurrent}
	ofWorkloads = []string{
		v1alpha.ConditionNamesProgrammed, v1alpha.ConditionDisruptionBudget, v1alpha.ConditionDegraded, v1alpha.ConditionStalled,
		v1alpha.ConditionInstanceTypeDeprecated, v1alpha.ConditionInstanceTypeDisabled,
	}
	// ofOthers are conditions of Clusters and sessions, and conditions that summarize the others: ReplicasReady is False only while an
	// Instance is missing or not Ready.
	ofOthers = []string{
		v1alpha.ConditionComputeAgentReady, v1alpha.ConditionComputeCityConfirmed, v1alpha.ConditionComputeForgotten,
		v1alpha.ConditionComputeNodesSchedulable, v1alpha.ConditionProgressing, v1alpha.ConditionReplicasReady,
	}
)

// TestEachFaultIsToldWhileInstancesAreReady: every reason of the table that reports a fault is the cause or a warning, with who must act
// and what to do.
func TestEachFaultIsToldWhileInstancesAreReady(t *testing.T) {
	for _, remedy := range reasons.All() {
		if remedy.Rank <= reasons.RankSummary && !(&Finding{Actor: remedy.After(time.Hour).Actor}).urgent() {
			continue
		}
		for _, conditionType := range remedy.Conditions {
			if slices.Contains(ofOthers, conditionType) {
				continue
			}
			t.Run(conditionType+"/"+remedy.Reason, func(t *testing.T) {
				s := readyWith(conditionType, remedy.Reason)
				ways := s.Ways()
				told := slices.Concat(Verdicts(ways), Warnings(ways))
				index := slices.IndexFunc(told, func(v Verdict) bool { return v.Stop.Finding.Reason == remedy.Reason })
				if index < 0 {
					t.Fatalf("explain tells of %+v", told)
				}
				if text := strings.Join(told[index].Lines(s.Now, 0), "\n"); !strings.Contains(text, "-> ") {
					t.Errorf("explain does not say who must act:\n%s", text)
				}
			})
		}
	}
}

// readyWith is a Workload with one Instance, which is Ready unless the condition says otherwise.
func readyWith(conditionType, reason string) *Snapshot {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	fault := condition(conditionType, "False", reason, "")
	if slices.Contains(trueIsBad, conditionType) {
		fault.Status = metav1.ConditionTrue
	}
	fault.LastTransitionTime = metav1.NewTime(now.Add(-time.Hour))
	ofInstance := []metav1.Condition{isReady}
	ofDeployment := []metav1.Condition{condition(v1alpha.ConditionReplicasReady, "True", v1alpha.ReasonAllReplicasReady, "")}
	ofWorkload := []metav1.Condition{condition(v1alpha.ConditionAvailable, "True", v1alpha.ReasonAvailablePlacementFound, "")}
	conditions := &ofDeployment
	switch {
	case slices.Contains(ofInstances, conditionType):
		conditions = &ofInstance
	case slices.Contains(ofWorkloads, conditionType):
		conditions = &ofWorkload
	}
	if (*conditions)[0].Type == conditionType {
		*conditions = nil
	}
	*conditions = append(*conditions, fault)
	return &Snapshot{
		Name: "web", Now: now, Workload: workload(1, 1, ofWorkload...),
		Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 1, 1, ofDeployment...)},
		Instances:   []v1alpha.Instance{instance("DFW", 0, ofInstance...)},
	}
}

// TestWarnings: a fault of reach is told once for all cities that have it, without what the Workload sums up from them, and also while an
// Instance is not Ready; a step that takes its time needs nobody.
func TestWarnings(t *testing.T) {
	waiting := condition(v1alpha.ConditionServiceProgrammed, "False", v1alpha.ReasonAwaitingAddress, "cell a")
	settled := condition(v1alpha.ConditionReplicasReady, "True", v1alpha.ReasonAllReplicasReady, "")
	crashing := condition(v1alpha.ConditionReady, "False", v1alpha.ReasonInstanceCrashing, "exit code 1")
	s := &Snapshot{
		Name: "web", Now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Workload: workload(1, 2, waiting),
		Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 1, 1, settled, waiting), deployment("ORD", 0, 1, waiting)},
		Instances:   []v1alpha.Instance{instance("DFW", 0, isReady), instance("ORD", 0, crashing)},
	}
	ways := s.Ways()
	verdicts, warnings := Verdicts(ways), Warnings(ways)
	if len(verdicts) != 1 || verdicts[0].Stop.Finding.Reason != v1alpha.ReasonInstanceCrashing {
		t.Errorf("it is stopped by %+v", verdicts)
	}
	if len(warnings) != 1 || len(warnings[0].Names) != 2 || warnings[0].Stop.Kind != v1alpha.KindWorkloadDeployment {
		t.Fatalf("it warns of %+v", warnings)
	}
	if text := strings.Join(warnings[0].Lines(s.Now, 0), "\n"); !strings.Contains(text, "nothing to do: The load balancer") {
		t.Errorf("the warning is\n%s", text)
	}
}
