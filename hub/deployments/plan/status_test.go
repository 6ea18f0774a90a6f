// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// report is the report of projection about a deployment.
type report struct {
	reason    string
	message   string
	ready     int32
	rolling   bool
	behind    bool
	unknown   bool
	condition *metav1.Condition
}

func (f *fixture) report(t *testing.T, name string, r report) {
	t.Helper()
	changeStatus(t, f, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
		condition := func(kind string, is bool, reason, message string) metav1.Condition {
			status := metav1.ConditionFalse
			if is {
				status = metav1.ConditionTrue
			}
			return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Unix(1000, 0)}
		}
		d.Status = v1alpha.WorkloadDeploymentStatus{
			ObservedGeneration: d.Generation,
			Suspended:          r.reason == v1alpha.ReasonProjectSuspended,
			ReplicaCounts: v1alpha.ReplicaCounts{
				Replicas: 2, CurrentReplicas: 2, DesiredReplicas: 2, ReadyReplicas: r.ready, AvailableReplicas: r.ready,
			},
			Conditions: []metav1.Condition{
				condition(v1alpha.ConditionAvailable, r.reason == v1alpha.ReasonStableInstanceFound, r.reason, r.message),
				condition(v1alpha.ConditionProgressing, r.rolling, v1alpha.ReasonRollingOut, ""),
			},
		}
		if r.unknown {
			d.Status.Conditions[0].Status = metav1.ConditionUnknown
		}
		if r.condition != nil {
			d.Status.Conditions = append(d.Status.Conditions, *r.condition)
		}
		if r.behind {
			d.Status.ObservedGeneration--
		}
	})
}

// TestDegraded: the most urgent cause of all cities is at the Workload, also while enough Instances serve. An Instance that only starts is no cause.
func TestDegraded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ dfw, ord, want string }{
		"all start":         {dfw: v1alpha.ReasonReplicasNotReady, ord: v1alpha.ReasonReplicasNotReady},
		"one is broken":     {dfw: v1alpha.ReasonReplicasNotReady, ord: v1alpha.ReasonImageUnavailable, want: "ImageUnavailable: ORD: of ord"},
		"one more urgently": {dfw: v1alpha.ReasonUnschedulable, ord: v1alpha.ReasonCellQuotaExceeded, want: "CellQuotaExceeded: ORD: of ord"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "DFW ORD")
			f.workload(t, "main DFW", "spare ORD")
			f.mustReconcile(t)
			for name, reason := range map[string]string{"web-main-dfw": test.dfw, "web-spare-ord": test.ord} {
				f.report(t, name, report{reason: v1alpha.ReasonStableInstanceFound, ready: 1, condition: &metav1.Condition{
					Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionFalse, Reason: reason, Message: "of " + name[len(name)-3:],
					LastTransitionTime: metav1.Unix(1000, 0),
				}})
			}
			f.mustReconcile(t)
			degraded := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionDegraded)
			got := ""
			if degraded.Status == metav1.ConditionTrue {
				got = degraded.Reason + ": " + degraded.Message
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	serving := report{reason: v1alpha.ReasonStableInstanceFound, message: "2 of 2", ready: 2}
	tests := map[string]struct {
		placements, cities string
		reports            map[string]report
		wantReason         string
		wantMessage        string
		wantProgressing    bool
		wantReady          int32
		wantUnknown        bool
		wantDeployments    int32
	}{
		"before any report": {
			placements: "main DFW ORD", wantReason: v1alpha.ReasonNoAvailableDeployments, wantProgressing: true, wantDeployments: 2,
			wantMessage: "placement main: DFW: its deployment has no status yet; ORD: its deployment has no status yet",
		},
		"a cell that has not confirmed the suspension": {
			placements: "main DFW ORD", cities: "DFW ORD",
			reports: map[string]report{
				"web-main-dfw": {reason: v1alpha.ReasonProjectSuspended, message: "stopped"},
				"web-main-ord": {reason: v1alpha.ReasonProjectSuspended, message: "not stopped", condition: &metav1.Condition{
					Type: v1alpha.ConditionSuspended, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonNotConfirmed, Message: "not by cell ord",
					LastTransitionTime: metav1.Unix(1000, 0),
				}},
			},
			wantReason: v1alpha.ReasonProjectSuspended, wantMessage: "placement main: not by cell ord", wantDeployments: 2,
		},
		"a suspended project": {
			placements: "main DFW ORD,second DFW,other XXX", cities: "DFW ORD",
			reports: map[string]report{
				"web-main-dfw":   {reason: v1alpha.ReasonProjectSuspended, message: "the project is suspended"},
				"web-main-ord":   {reason: v1alpha.ReasonReportOutdated, unknown: true},
				"web-second-dfw": {reason: v1alpha.ReasonProjectSuspended, message: "the project is suspended"},
			},
			wantReason: v1alpha.ReasonProjectSuspended, wantMessage: "placement main: the project is suspended", wantDeployments: 3,
		},
		"all serve": {
			placements: "main DFW ORD", reports: map[string]report{"web-main-dfw": serving, "web-main-ord": serving},
			wantReason: v1alpha.ReasonAvailablePlacementFound, wantReady: 4, wantDeployments: 2,
		},
		"nothing is known of one city": {
			placements: "main DFW ORD", reports: map[string]report{
				"web-main-dfw": {reason: v1alpha.ReasonInstancesProvisioning, message: "0 of 2"},
				"web-main-ord": {reason: v1alpha.ReasonCellNotReady, message: "cell ord: lost", unknown: true},
			},
			wantReason: v1alpha.ReasonCellNotReady, wantMessage: "cell ord: lost", wantDeployments: 2, wantUnknown: true,
		},
		"a cell blocks one city": {
			placements: "main DFW ORD", reports: map[string]report{
				"web-main-dfw": {reason: v1alpha.ReasonInstancesProvisioning, message: "0 of 2"},
				"web-main-ord": {reason: v1alpha.ReasonCellNotReady, message: "ORD: cell ord: Karmada does not reach the cell"},
			},
			wantReason: v1alpha.ReasonCellNotReady, wantMessage: "placement main: ORD: cell ord: Karmada does not reach the cell",
			wantDeployments: 2,
		},
		"nothing is known of one of two placements": {
			placements: "main DFW, spare ORD", reports: map[string]report{
				"web-main-dfw":  {reason: v1alpha.ReasonInstancesProvisioning, message: "0 of 2"},
				"web-spare-ord": {reason: v1alpha.ReasonCellNotReady, message: "cell ord: lost", unknown: true},
			},
			wantReason: v1alpha.ReasonCellNotReady, wantMessage: "cell ord: lost", wantDeployments: 2, wantUnknown: true,
		},
		"one of two placements serves": {
			placements: "main DFW, spare ORD",
			reports: map[string]report{
				"web-main-dfw": serving, "web-spare-ord": {reason: v1alpha.ReasonInstancesProvisioning, message: "0 of 2"},
			},
			wantReason: v1alpha.ReasonTooFewAvailable, wantMessage: "2 of 4 Instances are Available, 3 must be; placement spare: 0 of 2",
			wantReady: 2, wantDeployments: 2,
		},
		"none serves": {
			placements: "main DFW, spare ORD",
			reports: map[string]report{
				"web-main-dfw":  {reason: v1alpha.ReasonQuotaNotGranted, message: "no quota"},
				"web-spare-ord": {reason: v1alpha.ReasonInstancesProvisioning, message: "0 of 2"},
			},
			wantReason: v1alpha.ReasonNoAvailablePlacements, wantMessage: "placement main: no quota; placement spare: 0 of 2", wantDeployments: 2,
		},
		"one city of two serves": {
			placements: "main DFW ORD",
			reports:    map[string]report{"web-main-dfw": serving, "web-main-ord": {reason: v1alpha.ReasonInstancesProvisioning, message: "0 of 2"}},
			wantReason: v1alpha.ReasonInstancesProvisioning, wantMessage: "2 of 4 Instances are Available, 3 must be; 0 of 2",
			wantReady: 2, wantDeployments: 2,
		},
		"each city lacks one, and all together too many": {
			placements: "main DFW ORD AMS", cities: "DFW ORD AMS",
			reports: map[string]report{
				"web-main-dfw": {reason: v1alpha.ReasonStableInstanceFound, ready: 1},
				"web-main-ord": {reason: v1alpha.ReasonStableInstanceFound, ready: 1},
				"web-main-ams": {reason: v1alpha.ReasonStableInstanceFound, ready: 1},
			},
			wantReason: v1alpha.ReasonTooFewAvailable, wantMessage: "3 of 6 Instances are Available, 5 must be", wantReady: 3, wantDeployments: 3,
		},
		"one rolls": {
			placements: "main DFW ORD", reports: map[string]report{
				"web-main-dfw": serving, "web-main-ord": {reason: v1alpha.ReasonStableInstanceFound, ready: 1, rolling: true},
			},
			wantReason: v1alpha.ReasonAvailablePlacementFound, wantProgressing: true, wantReady: 3, wantDeployments: 2,
		},
		"the cell does not know the newest generation": {
			placements: "main DFW", reports: map[string]report{"web-main-dfw": {reason: v1alpha.ReasonStableInstanceFound, ready: 2, behind: true}},
			wantReason: v1alpha.ReasonAvailablePlacementFound, wantProgressing: true, wantReady: 2, wantDeployments: 1,
		},
		"a city without a location": {
			placements: "main AMS", cities: "DFW ORD", wantReason: v1alpha.ReasonNoMatchingLocation,
			wantMessage: "placement main: the project may not use AMS now; it may use DFW, ORD",
		},
		"no location at all": {
			placements: "main DFW", cities: " ", wantReason: v1alpha.ReasonNoMatchingLocation,
			wantMessage: "placement main: the project may not use DFW now; it may use no city",
		},
		"another city serves": {
			placements: "main DFW AMS", cities: "DFW", reports: map[string]report{"web-main-dfw": serving},
			wantReason: v1alpha.ReasonNoMatchingLocation,
			wantMessage: "placement main: 2 of 4 Instances are Available, 3 must be; the project may not use AMS now; it may " +
				"use DFW", wantReady: 2, wantDeployments: 1,
		},
		"data is missing": {
			placements: "main DFW", reports: map[string]report{"web-main-dfw": {
				reason: v1alpha.ReasonReferencedDataNotReady, message: "0 of 2",
				condition: &metav1.Condition{
					Type: v1alpha.ConditionReferencedDataReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonSourceNotFound, Message: "create it",
					LastTransitionTime: metav1.Unix(1000, 0),
				},
			}},
			wantReason: v1alpha.ReasonReferencedDataNotReady, wantMessage: "placement main: 0 of 2; create it", wantDeployments: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, cmp.Or(test.cities, "DFW ORD"))
			f.workload(t, strings.Split(test.placements, ",")...)
			f.mustReconcile(t)
			for _, name := range slices.Sorted(maps.Keys(test.reports)) {
				f.report(t, name, test.reports[name])
			}
			f.mustReconcile(t)
			workload := f.readWorkload(t)
			status := workload.Status
			available := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable)
			if available.Reason != test.wantReason || available.ObservedGeneration != workload.Generation ||
				(available.Status == metav1.ConditionTrue) != (test.wantReason == v1alpha.ReasonAvailablePlacementFound) ||
				(available.Status == metav1.ConditionUnknown) != test.wantUnknown {
				t.Errorf("Available is %+v", available)
			}
			if !strings.Contains(available.Message, test.wantMessage) {
				t.Errorf("the message is %q, want %q", available.Message, test.wantMessage)
			}
			if got := meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionProgressing); got != test.wantProgressing {
				t.Errorf("it progresses: %t", got)
			}
			if status.ReadyReplicas != test.wantReady || status.Deployments != test.wantDeployments ||
				status.ObservedGeneration != workload.Generation {
				t.Errorf("the status is %+v", status)
			}
			if suspended := test.wantReason == v1alpha.ReasonProjectSuspended; status.Suspended != suspended {
				t.Errorf("suspended is %t", status.Suspended)
			}
			f.clock.SetTime(f.clock.Now().Add(time.Minute))
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("when nothing has changed, it writes %v", writes)
			}
		})
	}
}

// TestWhatGenericToolsRead: kstatus and kubectl wait need Ready, which is True when nothing is left to do, and Stalled.
func TestWhatGenericToolsRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	expect := func(when string, ready bool, stalled bool) {
		t.Helper()
		f.mustReconcile(t)
		workload := f.readWorkload(t)
		found := meta.FindStatusCondition(workload.Status.Conditions, v1alpha.ConditionReady)
		if found == nil || (found.Status == metav1.ConditionTrue) != ready || found.ObservedGeneration != workload.Generation {
			t.Errorf("%s: Ready is %+v", when, found)
		}
		if got := meta.FindStatusCondition(workload.Status.Conditions, v1alpha.ConditionStalled); (got != nil) != stalled {
			t.Errorf("%s: Stalled is %+v", when, got)
		}
	}
	expect("at first", false, false)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 1, rolling: true})
	expect("Available, and an Instance is missing", false, false)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	expect("settled", true, false)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 1, rolling: true})
	f.mustReconcile(t)
	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	expect("no progress", false, true)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	expect("settled again", true, false)
}

// TestScaledToZero: a Workload whose placements are all stopped is Available, and one that is stopped in part counts
// the rest.
func TestScaledToZero(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	workload := f.workload(t, "main DFW", "other ORD")
	f.mustReconcile(t)
	expect := func(when, reason string, placements ...string) {
		t.Helper()
		f.mustReconcile(t)
		status := f.readWorkload(t).Status
		if got := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable); got.Reason != reason {
			t.Errorf("%s: Available is %+v", when, got)
		}
		for i, reason := range placements {
			if got := status.Placements[i].Conditions[0].Reason; got != reason {
				t.Errorf("%s: placement %s has reason %s, want %s", when, status.Placements[i].Name, got, reason)
			}
		}
	}
	scale := func(replicas ...int32) {
		change(t, f, workload, func(w *v1alpha.Workload) {
			for i := range replicas {
				w.Spec.Placements[i].ScaleSettings.MinReplicas = replicas[i]
			}
		})
	}
	scale(0, 2)
	expect("the rest starts", v1alpha.ReasonNoAvailablePlacements, v1alpha.ReasonScaledToZero, v1alpha.ReasonNoAvailableDeployments)
	f.report(t, "web-other-ord", report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	expect("the rest serves", v1alpha.ReasonAvailablePlacementFound, v1alpha.ReasonScaledToZero, v1alpha.ReasonAvailableDeploymentFound)
	scale(0, 0)
	expect("all is stopped", v1alpha.ReasonScaledToZero, v1alpha.ReasonScaledToZero, v1alpha.ReasonScaledToZero)
	if got := f.names(t); got != "web-main-dfw web-other-ord" {
		t.Errorf("the deployments are %q", got)
	}
	scale(1, 0)
	expect("one is started", v1alpha.ReasonNoAvailablePlacements, v1alpha.ReasonNoAvailableDeployments, v1alpha.ReasonScaledToZero)
}

// TestASurplusDeploymentDoesNotCount, even while its deletion is slow.
func TestASurplusDeploymentDoesNotCount(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	workload := f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	change(t, f, workload, func(w *v1alpha.Workload) { w.Spec.Placements = placementsOf([]string{"main ORD"}) })
	f.mustReconcile(t)
	if status := f.readWorkload(t).Status; status.Deployments != 1 || status.ReadyReplicas != 0 {
		t.Errorf("the status is %+v", status)
	}
}

// TestTransitionTimes: a condition keeps its time while its status is the same.
func TestTransitionTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	start := f.clock.Now()
	since := func() (workload, placement time.Time) {
		status := f.readWorkload(t).Status
		return meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable).LastTransitionTime.Time,
			meta.FindStatusCondition(status.Placements[0].Conditions, v1alpha.ConditionAvailable).LastTransitionTime.Time
	}
	f.clock.SetTime(start.Add(time.Minute))
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonInstancesProvisioning, message: "0 of 2"})
	f.mustReconcile(t)
	if workload, placement := since(); !workload.Equal(start) || !placement.Equal(start) {
		t.Errorf("another message: since %s and %s, want %s", workload, placement, start)
	}
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	f.mustReconcile(t)
	if workload, placement := since(); !workload.Equal(start.Add(time.Minute)) || !placement.Equal(start.Add(time.Minute)) {
		t.Errorf("another status: since %s and %s, want a minute after %s", workload, placement, start)
	}
}
