// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestGoneWithAFault: the Works of a lost cell end, its condition shows that, and it can be used again, whichever write
// fails.
func TestGoneWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		f.Hub.Through(faults)
		stuck := f.preserved(t, "stuck", thisProduct, true)
		settle := func() {
			t.Helper()
			for range 2 {
				faults.Reconcile(t, func() error {
					_, err := f.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(f.cell)})
					return err
				})
			}
		}
		clock := testclock.NewFakePassiveClock(time.Now().Add(2 * preservedAfter))
		f.reconciler.Clock = clock
		settle()
		if planes.Exists(t, f.Planes, stuck) {
			t.Error("a Work that Karmada cannot end stays")
		}
		f.lose(t)
		f.forget(t)
		planes.Delete(t, f.Planes, f.ours)
		settle()
		settle()
		if planes.Exists(t, f.Planes, f.ofNamespace) || planes.Exists(t, f.Planes, f.ours) || !planes.Exists(t, f.Planes, f.other) {
			t.Error("not exactly the add-on's Works have ended")
		}
		f.wantCondition(t, v1alpha.ReasonForgotten)
		f.remember(t)
		settle()
		f.wantCondition(t, "")
	})
}

// TestConfirmationsWithAFault: a city follows its Cluster while no agent writes Clusters, and the command that confirms it
// is shown afterwards, whichever write fails.
func TestConfirmationsWithAFault(t *testing.T) {
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		p := planes.New(t)
		p.LiftLimits()
		p.Hub.Through(faults)
		cell := p.Cell(t, planes.City())
		r := &Confirmations{
			Cities: &Cities{Namespaces: p.Client, APIReader: p.HubAPI, Writer: p.Hub},
			Hub:    p.Hub, Clock: testclock.NewFakePassiveClock(time.Now()),
		}
		settle := func() {
			t.Helper()
			for range 2 {
				faults.Reconcile(t, func() error {
					_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(cell)})
					return err
				})
			}
		}
		confirmed := func(want string) {
			t.Helper()
			works := planes.Get(t, p, "", planes.ExecutionSpace(cell.Name), &corev1.Namespace{})
			if got := works.Labels[v1alpha.LabelTopologyCity]; got != want {
				t.Errorf("the confirmed city is %q, want %q", got, want)
			}
		}
		settle()
		confirmed(cityOf(cell))
		before := cityOf(cell)
		planes.Change(t, p, cell, func(c *clusterv1alpha1.Cluster) { c.Labels[v1alpha.LabelTopologyCity] = "moved" })
		settle()
		confirmed("moved")

		agent := p.Cell(t, planes.City())
		planes.Change(t, p, agent, func(c *clusterv1alpha1.Cluster) { c.Spec.SyncMode = clusterv1alpha1.Pull })
		defer planes.Delete(t, p, agent)
		planes.Change(t, p, cell, func(c *clusterv1alpha1.Cluster) { c.Labels[v1alpha.LabelTopologyCity] = before })
		settle()
		confirmed("moved")
		planes.Get(t, p, "", cell.Name, cell)
		if !hasCondition(cell, v1alpha.ConditionComputeCityConfirmed) {
			t.Errorf("the conditions are %+v", cell.Status.Conditions)
		}
	})
}

func hasCondition(cluster *clusterv1alpha1.Cluster, kind string) bool {
	for i := range cluster.Status.Conditions {
		if cluster.Status.Conditions[i].Type == kind {
			return true
		}
	}
	return false
}
