// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// cell plays the cells of a fixture.
type cell struct {
	simulated.Cell
	f *fixture
}

func (f *fixture) cell() *cell { return &cell{Cell: simulated.New(testBegin), f: f} }

func (c *cell) deployments(t *testing.T) []v1alpha.WorkloadDeployment {
	t.Helper()
	var list v1alpha.WorkloadDeploymentList
	if err := c.f.Client.List(t.Context(), &list, client.InNamespace(c.f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// run gives every Instance its template, all at once, and reports the result.
func (c *cell) run(t *testing.T) {
	t.Helper()
	deployments := c.deployments(t)
	for i := range deployments {
		planes.ChangeStatus(t, c.f.Planes, &deployments[i], func(d *v1alpha.WorkloadDeployment) { c.Report(t, d) })
	}
}

// settle lets the cell and the controller act until nothing changes.
func (c *cell) settle(t *testing.T) {
	t.Helper()
	simulated.World{
		Run: func() { c.run(t) }, Reconcile: func() int { return len(c.f.mustReconcile(t)) }, State: func() string { return c.state(t) },
	}.Settle(t)
}

// state returns how many Instances of each city have the Workload's template.
func (c *cell) state(t *testing.T) string {
	t.Helper()
	return c.State(t, c.f.readWorkload(t), c.deployments(t))
}

func (f *fixture) image(t *testing.T, image string) string {
	t.Helper()
	changed := planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Template = planes.Template(image) })
	return simulated.Hash(t, &changed.Spec.Template)
}

func (f *fixture) rolls(t *testing.T, change func(*v1alpha.WorkloadRollout)) {
	t.Helper()
	planes.Change(t, f.Planes, f.readWorkload(t), func(w *v1alpha.Workload) {
		if w.Spec.Rollout == nil {
			w.Spec.Rollout = &v1alpha.WorkloadRollout{}
		}
		change(w.Spec.Rollout)
	})
}

func (f *fixture) phase(t *testing.T) v1alpha.RolloutPhase {
	t.Helper()
	if r := f.readWorkload(t).Status.Rollout; r != nil {
		return r.Phase
	}
	return ""
}

// rolledOut returns a Workload with 2 Instances in each of DFW and ORD, which are all Available.
func rolledOut(t *testing.T) (*fixture, *cell) {
	t.Helper()
	f := newFixture(t, "DFW ORD SEA")
	f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	c := f.cell()
	c.settle(t)
	if phase := f.phase(t); phase != v1alpha.RolloutComplete {
		t.Fatalf("after the creation the phase is %q", phase)
	}
	return f, c
}
