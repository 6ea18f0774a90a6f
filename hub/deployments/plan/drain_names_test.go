// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
)

// answers are the addresses that the names of every Workload have.
type answers struct {
	addresses []string
	broken    bool
	asked     int
}

func (a *answers) answer() ([]string, bool) {
	a.asked++
	return a.addresses, !a.broken
}

// newNamed is newServing with names, which have the addresses of both cities.
func newNamed(t *testing.T) (*fixture, *v1alpha.Workload, *answers) {
	t.Helper()
	f, workload := newServing(t, nil)
	stored := &answers{addresses: []string{"203.0.113.7", "203.0.113.8"}}
	f.addresses = stored
	return f, workload, stored
}

// TestDrainFollowsTheName: drainSeconds count from when the hub has stored the names without the city, whichever replica
// has seen that.
func TestDrainFollowsTheName(t *testing.T) {
	t.Parallel()
	f, workload, stored := newNamed(t)
	change(t, f, workload, inCities("DFW"))
	f.mustReconcile(t)
	f.after(t, 60*time.Second)
	if f.leaving(t, "web-main-ord") {
		t.Fatal("the Instances stop while the name has their city")
	}
	stored.addresses = []string{"203.0.113.7"}
	f.after(t, time.Second)
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("what waits is written: %v", writes)
	}
	// A name that another replica could not read any more.
	stored.broken, stored.asked = true, 0
	f.after(t, 29*time.Second)
	if f.leaving(t, "web-main-ord") {
		t.Error("resolvers may still have the city")
	}
	f.after(t, time.Second)
	if !f.leaving(t, "web-main-ord") || stored.asked > 0 {
		t.Errorf("there are %s, and the names are read %d times more", f.names(t), stored.asked)
	}
}

// TestDrainOfBrokenNames: names that cannot be read or written hold Instances for a bounded time.
func TestDrainOfBrokenNames(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bool{"not read": true, "not written": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, workload, stored := newNamed(t)
			stored.broken = broken
			remove(t, f, workload)
			f.mustReconcile(t)
			f.after(t, plan.NamesPatience-time.Second)
			if f.leaving(t, "web-main-ord") {
				t.Error("the Instances stop before")
			}
			f.after(t, time.Second)
			if !f.leaving(t, "web-main-ord") {
				t.Error("the Instances do not stop")
			}
		})
	}
}

// TestDrainOfNamesThatStay: names keep the last answer when all cities leave; what is kept on purpose is not waited for.
// Names of a Workload that has none any more are waited for.
func TestDrainOfNamesThatStay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*v1alpha.Workload)
		waits  bool
	}{
		"all cities stop": {func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = 0 }, false},
		"no exposure":     {unexposed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, workload, stored := newNamed(t)
			change(t, f, workload, test.change)
			f.mustReconcile(t)
			f.after(t, 30*time.Second)
			runs := func() bool {
				spec := f.readDeployment(t, "web-main-ord").Spec
				return !spec.ScaleSettings.Zero() && spec.Service.Exposed()
			}
			if runs() != test.waits {
				t.Errorf("it waits %t", runs())
			}
			stored.addresses = nil
			f.after(t, time.Second)
			f.after(t, 30*time.Second)
			if runs() {
				t.Error("it does not end")
			}
		})
	}
}

// TestDrainOfASharedAddress: an address that another deployment offers stays in the names, and is not waited for.
func TestDrainOfASharedAddress(t *testing.T) {
	t.Parallel()
	f, workload, stored := newNamed(t)
	f.serve(t, "web-main-ord", at("ORD", true, 0, "203.0.113.7", "203.0.113.8"))
	change(t, f, workload, inCities("DFW"))
	f.mustReconcile(t)
	stored.addresses = []string{"203.0.113.7"}
	f.after(t, time.Second)
	f.after(t, 30*time.Second)
	if !f.leaving(t, "web-main-ord") {
		t.Error("it waits for an address that stays")
	}
}

// TestDrainBesideACityThatDoesNotServe: a name loses a city that leaves also while no other city serves, as long as one has an
// address. The Instances wait for that.
func TestDrainBesideACityThatDoesNotServe(t *testing.T) {
	t.Parallel()
	f, workload, stored := newNamed(t)
	f.serve(t, "web-main-dfw", at("DFW", false, 0, "203.0.113.7"))
	change(t, f, workload, inCities("DFW"))
	f.mustReconcile(t)
	f.after(t, 60*time.Second)
	if f.leaving(t, "web-main-ord") {
		t.Fatal("the Instances stop while the name has their city")
	}
	stored.addresses = []string{"203.0.113.7"}
	f.after(t, time.Second)
	f.after(t, 30*time.Second)
	if !f.leaving(t, "web-main-ord") {
		t.Error("the Instances do not stop")
	}
}
