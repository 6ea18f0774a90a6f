// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
)

// suspendedInARollout returns a Workload with a budget and 2 Instances in each of DFW and ORD. Its project is suspended
// when the first Instance has template 2.
func suspendedInARollout(t *testing.T) (*fixture, *cell) {
	t.Helper()
	f, c := rolledOut(t)
	change(t, f, f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Disruption = &v1alpha.WorkloadDisruption{MinAvailable: new(intstr.FromInt32(3))}
	})
	c.settle(t)
	f.image(t, "registry.example/app:2")
	f.mustReconcile(t)
	for range 10 {
		if c.run(t); c.state(t) == "DFW 1/2 ORD 0/2" {
			break
		}
		f.mustReconcile(t)
	}
	if got := c.state(t); got != "DFW 1/2 ORD 0/2" {
		t.Fatalf("the rollout begins with %s", got)
	}
	c.Suspended = true
	c.checkStopped(t, "DFW 1/2 ORD 0/2")
	return f, c
}

// checkStopped fails unless the Instances keep their templates while the project is suspended, and no floor allows a
// disruption.
func (c *cell) checkStopped(t *testing.T, want string) {
	t.Helper()
	before := maps.Clone(c.Templates)
	c.settle(t)
	if got := c.state(t); got != want || !maps.Equal(c.Templates, before) {
		t.Errorf("suspended, the Instances are at %s, and not %s", got, want)
	}
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		if floor := c.f.floor(t, name); floor != budget.Everything {
			t.Errorf("suspended, %s has floor %d", name, floor)
		}
	}
}

// checkComplete fails unless the rollout is complete, no deployment or partition is left over, and the floors are the
// minimum.
func (c *cell) checkComplete(t *testing.T) {
	t.Helper()
	if got := c.state(t); got != "DFW 2/2 ORD 2/2" || c.f.phase(t) != v1alpha.RolloutComplete {
		t.Errorf("resumed, the rollout ends with %s, %s", got, c.f.phase(t))
	}
	if names := c.f.names(t); names != "web-main-dfw web-main-ord" {
		t.Errorf("the deployments are %s", names)
	}
	var floors int32
	for _, name := range []string{"web-main-dfw", "web-main-ord"} {
		// A floor above the Available Instances leaves no slack either.
		floors += min(2, c.f.floor(t, name))
		if c.f.readDeployment(t, name).Spec.Partition != nil {
			t.Errorf("%s has a partition", name)
		}
	}
	if floors != 3 {
		t.Errorf("the floors leave %d Instances Available", floors)
	}
}

// TestSuspendedDuringARollout: no further Instance gets the template while the project is suspended. Then the rollout
// continues, Instance by Instance and city after city.
func TestSuspendedDuringARollout(t *testing.T) {
	t.Parallel()
	_, c := suspendedInARollout(t)
	c.Suspended = false
	if got, want := c.settle(t), []string{"DFW 1/2 ORD 0/2", "DFW 2/2 ORD 0/2", "DFW 2/2 ORD 2/2"}; !slices.Equal(got, want) {
		t.Errorf("resumed, it goes by %q", got)
	}
	c.checkComplete(t)
}

// TestUndoWhileSuspended: the cells have the undo before the project is resumed. No Instance starts with the undone
// template again.
func TestUndoWhileSuspended(t *testing.T) {
	t.Parallel()
	f, c := suspendedInARollout(t)
	undone := f.image(t, "registry.example/app:1")
	c.checkStopped(t, "DFW 1/2 ORD 2/2")
	c.Suspended = false
	c.run(t)
	for name, hash := range c.Templates {
		if hash != undone {
			t.Errorf("%s starts with template %s", name, hash)
		}
	}
	c.settle(t)
	c.checkComplete(t)
}

// TestBrokenTemplateWhileSuspended: a template that is written while the project is suspended has a first Instance as
// any other.
func TestBrokenTemplateWhileSuspended(t *testing.T) {
	t.Parallel()
	f, c := suspendedInARollout(t)
	c.Broken = append(c.Broken, f.image(t, "registry.example/app:broken"))
	c.checkStopped(t, "DFW 0/2 ORD 0/2")
	c.Suspended = false
	c.settle(t)
	if got := c.state(t); got != "DFW 1/2 ORD 0/2" {
		t.Errorf("resumed, the broken template has %s", got)
	}
	f.image(t, "registry.example/app:3")
	c.settle(t)
	c.checkComplete(t)
}
