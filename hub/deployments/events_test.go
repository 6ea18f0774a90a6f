// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestEventsOfAvailability: Events report when a Workload becomes available or unavailable, and when an action is
// required. Transient states get no Event, and no Event is repeated.
func TestEventsOfAvailability(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	steps := []struct {
		report report
		want   []string
	}{
		{report{reason: v1alpha.ReasonInstancesProvisioning}, nil},
		{report{reason: v1alpha.ReasonQuotaNotGranted, message: "none left"}, []string{v1alpha.ReasonQuotaNotGranted}},
		{report{reason: v1alpha.ReasonQuotaNotGranted, message: "one left"}, nil},
		{report{reason: v1alpha.ReasonStableInstanceFound, ready: 2}, []string{v1alpha.ReasonAvailablePlacementFound}},
		{report{reason: v1alpha.ReasonStableInstanceFound, ready: 1}, nil},
		{report{reason: v1alpha.ReasonInstancesProvisioning}, []string{v1alpha.ReasonInstancesProvisioning}},
		{report{reason: v1alpha.ReasonProjectSuspended}, []string{v1alpha.ReasonProjectSuspended}},
		{report{reason: v1alpha.ReasonStableInstanceFound, ready: 2}, []string{v1alpha.ReasonAvailablePlacementFound}},
	}
	for i, step := range steps {
		f.report(t, "web-main-dfw", step.report)
		f.Project.Calls()
		f.mustReconcileKeepingCalls(t)
		var got []string
		for _, call := range f.Project.Calls() {
			if event, ok := strings.CutPrefix(call.Verb, "event "); ok && call == (planes.Call{Verb: call.Verb, Kind: "Workload", Name: "web"}) {
				got = append(got, event)
			}
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("step %d, %s: events %v, want %v", i, step.report.reason, got, step.want)
		}
	}
}

// TestNoEventOfAStatusThatWasNotWritten: a status write that fails has no Event, and the retry has one.
func TestNoEventOfAStatusThatWasNotWritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	events := func() (count int) {
		for _, call := range f.Project.Calls() {
			if call.Verb == "event "+v1alpha.ReasonAvailablePlacementFound {
				count++
			}
		}
		return count
	}
	broken := errors.New("the connection is broken")
	f.Project.Once("apply status", v1alpha.KindWorkload, func() error { return broken })
	if _, err := f.reconciler.Reconcile(t.Context(), f.request()); !errors.Is(err, broken) || events() > 0 {
		t.Errorf("after %v there is an Event", err)
	}
	f.mustReconcileKeepingCalls(t)
	if got := events(); got != 1 {
		t.Errorf("%d Events of the retry, want 1", got)
	}
}

// TestEventOfEachStep: each step of a rollout has one Event, and a Workload that has settled has none.
func TestEventOfEachStep(t *testing.T) {
	t.Parallel()
	f, c := rolledOut(t)
	f.image(t, "registry.example/app:2")
	events := 0
	for range 20 {
		c.run(t)
		f.Project.Calls()
		if err := f.reconcile(t); err != nil {
			t.Fatal(err)
		}
		for _, call := range f.Project.Calls() {
			if call.Verb == "event "+eventRollout {
				events++
			}
		}
	}
	// DFW gets it for its first Instance and then for the other one, ORD for both at once.
	if got := c.state(t); got != "DFW 2/2 ORD 2/2" || events != 3 {
		t.Errorf("%d Events of steps, with the cities at %s", events, got)
	}
}
