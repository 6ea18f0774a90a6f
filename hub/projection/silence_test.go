// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// offers fails unless the city serves with one address and since a time.
func (f *fixture) offers(t *testing.T, when string, since metav1.Time) {
	t.Helper()
	got := f.endpoint(t)
	if !got.Serving || len(got.Addresses) != 1 || got.Addresses[0].Value != f.own("203.0.113.7") || !got.Since.Equal(&since) {
		t.Errorf("%s the endpoint is %+v", when, got)
	}
}

// TestASilentCityServes: a city of one cell serves on although the hub has no newer report of it, whatever the cause is.
func TestASilentCityServes(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]func(*testing.T, *fixture){
		"its Work is made again":       func(t *testing.T, f *fixture) { t.Helper(); f.loseWork(t, f.cell.Name) },
		"its Work has no report":       func(t *testing.T, f *fixture) { t.Helper(); f.deliver(t, nil) },
		"the copy is lost":             func(t *testing.T, f *fixture) { t.Helper(); planes.Delete(t, f.Planes, f.copied) },
		"its Work carries an old copy": func(t *testing.T, f *fixture) { t.Helper(); f.recopy(t) },
		"its agent is away": func(t *testing.T, f *fixture) {
			t.Helper()
			planes.ChangeStatus(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) {
				c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
					Type: v1alpha.ConditionComputeAgentReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonAgentNotReady,
					LastTransitionTime: f.now(),
				})
			})
		},
		"Karmada does not send the copy": func(t *testing.T, f *fixture) {
			t.Helper()
			f.copied = planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 3 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newExposed(t)
			f.reach(t, "203.0.113.7", "0-1")
			since := f.endpoint(t).Since
			silence(t, f)
			f.offers(t, "at once", since)
			f.pass(time.Hour)
			f.offers(t, "after an hour", since)
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

// recopy plays a hub that was restored: the copy is another object, of which no Work exists.
func (f *fixture) recopy(t *testing.T) {
	t.Helper()
	planes.Delete(t, f.Planes, f.copied)
	f.copied = planes.Create(t, f.Planes, f.newCopy())
	f.copied = planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) { d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{} })
}
