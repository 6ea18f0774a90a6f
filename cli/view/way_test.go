// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"errors"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestFaults: explain finds what the collector finds, and nothing in objects that the user may not read.
func TestFaults(t *testing.T) {
	now := metav1.Now()
	for name, test := range map[string]struct {
		change      func(*Snapshot, *OnHub)
		wantReason  string
		wantBinding bool
	}{
		"a Work that is being deleted": {
			change: func(_ *Snapshot, h *OnHub) { h.Works["a"].DeletionTimestamp = &now }, wantReason: v1alpha.ReasonNotApplied,
		},
		"a Work of an earlier copy": {change: func(*Snapshot, *OnHub) {}},
		"no Work":                   {change: func(_ *Snapshot, h *OnHub) { delete(h.Works, "a") }, wantReason: v1alpha.ReasonNotApplied},
		"a binding that is being deleted": {
			change: func(_ *Snapshot, h *OnHub) { h.Binding.DeletionTimestamp = &now }, wantReason: v1alpha.ReasonNotBound, wantBinding: true,
		},
		"the binding of an earlier copy": {
			change: func(_ *Snapshot, h *OnHub) { h.Binding.Spec.Resource.UID = "earlier" }, wantReason: v1alpha.ReasonNotBound, wantBinding: true,
		},
		"a binding that the user may not read": {change: func(s *Snapshot, h *OnHub) {
			h.Binding, s.Hidden = nil, map[string]error{"v1alpha2.ResourceBinding of the hub": errors.New("forbidden")}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onHub := &OnHub{
				Namespace: "ns", Copy: &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "copy"}},
				Binding: &workv1alpha2.ResourceBinding{}, Works: map[string]*workv1alpha1.Work{"a": {}},
			}
			onHub.Binding.Spec.Clusters = []workv1alpha2.TargetCluster{{Name: "a"}}
			cluster := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1alpha1.ClusterConditionReady, Status: metav1.ConditionTrue}}
			s := &Snapshot{Clusters: map[string]*clusterv1alpha1.Cluster{"a": cluster}, Now: now.Time}
			test.change(s, onHub)
			key := "a"
			if test.wantBinding {
				key = ""
			}
			got := ""
			if found := s.faults(onHub)[key]; found != nil {
				got = found.Reason
			}
			if got != test.wantReason {
				t.Errorf("got %q, want %q", got, test.wantReason)
			}
		})
	}
}

// TestTheWorkloadAsAWhole: all Instances are Ready, and explain still reports a deletion that does not end, a rollout
// past its deadline, and a template that a cell refuses.
func TestTheWorkloadAsAWhole(t *testing.T) {
	ready := condition(v1alpha.ConditionReady, "True", v1alpha.ReasonAvailable, "")
	settled := condition(v1alpha.ConditionReplicasReady, "True", v1alpha.ReasonAllReplicasReady, "")
	available := condition(v1alpha.ConditionAvailable, "True", v1alpha.ReasonAvailablePlacementFound, "")
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		change func(*v1alpha.Workload)
		status []metav1.Condition
		want   string
		urgent bool
	}{
		"all is well": {change: func(*v1alpha.Workload) {}},
		"it is being deleted": {
			change: func(w *v1alpha.Workload) { w.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Second)} }, want: "Deleting",
		},
		"its deletion does not end": {
			change: func(w *v1alpha.Workload) { w.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Hour)} }, want: "Deleting", urgent: true,
		},
		"its deletion waits for traffic": {
			change: func(w *v1alpha.Workload) {
				w.DeletionTimestamp = &metav1.Time{Time: now.Add(-30 * time.Minute)}
				leaves := condition(v1alpha.ConditionProgressing, "True", v1alpha.ReasonTrafficLeaves, "traffic leaves DFW until 13:00")
				leaves.LastTransitionTime = *w.DeletionTimestamp
				w.Status.Conditions = append(w.Status.Conditions, leaves)
			}, want: v1alpha.ReasonTrafficLeaves,
		},
		"its deadline has passed": {
			change: func(w *v1alpha.Workload) {
				w.Status.Conditions = append(w.Status.Conditions,
					condition(v1alpha.ConditionProgressing, "False", v1alpha.ReasonProgressDeadlineExceeded, "no progress"))
			}, want: v1alpha.ReasonProgressDeadlineExceeded, urgent: true,
		},
		"a cell refuses the next template": {
			change: func(*v1alpha.Workload) {}, status: []metav1.Condition{
				condition(v1alpha.ConditionTemplateAccepted, "False", v1alpha.ReasonRuntimeClassNotServed, "web-main-dfw-0 keeps its template"),
			}, want: v1alpha.ReasonRuntimeClassNotServed, urgent: true,
		},
	} {
		w := workload(1, 1, available)
		test.change(w)
		s := &Snapshot{
			Namespace: "default", Name: w.Name, Workload: w, Now: now,
			Deployments: []v1alpha.WorkloadDeployment{deployment("DFW", 1, 1, append(test.status, settled)...)},
			Instances:   []v1alpha.Instance{instance("DFW", 0, ready)},
		}
		verdicts := Verdicts(s.Ways())
		got, urgent := "", false
		if len(verdicts) == 1 {
			got, urgent = verdicts[0].Stop.Finding.Reason, verdicts[0].Stop.Finding.urgent()
		}
		if got != test.want || urgent != test.urgent {
			t.Errorf("%s: explained by %q, which needs an action: %t; want %q, %t: %+v", name, got, urgent, test.want, test.urgent, verdicts)
		}
	}
}

// TestDataThatIsTooLarge: the cell knows only that the data is not there, and the deployment why.
func TestDataThatIsTooLarge(t *testing.T) {
	const kind = v1alpha.ConditionReferencedDataReady
	gates := condition(v1alpha.ConditionReady, "False", v1alpha.ReasonSchedulingGatesPresent, "")
	for name, test := range map[string]struct {
		deployment, instance metav1.Condition
		want, kind           string
	}{
		"the cause is above": {
			condition(kind, "False", v1alpha.ReasonSourceTooLarge, "big"),
			condition(kind, "False", v1alpha.ReasonAwaitingPropagation, "not in the cell"),
			v1alpha.ReasonSourceTooLarge, v1alpha.KindWorkloadDeployment,
		},
		"it is on its way": {
			condition(kind, "False", v1alpha.ReasonAwaitingPropagation, ""),
			condition(kind, "False", v1alpha.ReasonAwaitingPropagation, "not in the cell"),
			v1alpha.ReasonAwaitingPropagation, v1alpha.KindInstance,
		},
	} {
		since := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		test.deployment.LastTransitionTime, test.instance.LastTransitionTime, gates.LastTransitionTime = since, since, since
		d := deployment("DFW", 0, 1, condition(v1alpha.ConditionReplicasReady, "False", v1alpha.ReasonReplicasNotReady, ""), test.deployment)
		s := &Snapshot{
			Workload: workload(0, 1), Deployments: []v1alpha.WorkloadDeployment{d},
			Instances: []v1alpha.Instance{instance("DFW", 0, gates, test.instance)}, Now: since.Add(time.Hour),
		}
		ways := s.Ways()
		if len(ways) != 1 || ways[0].Stop == nil || ways[0].Stop.Finding.Reason != test.want || ways[0].Stop.Kind != test.kind {
			t.Errorf("%s: %+v", name, ways[0].Stop)
		}
	}
}

// TestAWorkNamesItsOverrides: explain shows which policies have changed what a cell has got.
func TestAWorkNamesItsOverrides(t *testing.T) {
	work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		util.AppliedClusterOverrides: `[{"policyName":"mirror","overriders":{}}]`, util.AppliedOverrides: `[{"policyName":"theirs"}]`,
	}}}
	step := &Step{State: StateOK}
	step.override(work)
	if want := "overridden by mirror, theirs"; step.State != want {
		t.Errorf("the Work is %q, want %q", step.State, want)
	}
	for name, c := range map[string]struct {
		work  *workv1alpha1.Work
		state string
	}{
		"none": {nil, StateMissing}, "without overrides": {&workv1alpha1.Work{}, StateOK}, "with a fault": {work, StateNotReady},
	} {
		step := &Step{State: c.state}
		step.override(c.work)
		if step.State != c.state {
			t.Errorf("a Work that is %s is %q, want %q", name, step.State, c.state)
		}
	}
}
