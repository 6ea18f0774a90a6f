// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"fmt"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
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
		"its Work is recreated":        func(t *testing.T, f *fixture) { t.Helper(); f.loseWork(t, f.cell.Name) },
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

// TestAnAgentThatRestarts: an agent that was outdated for long and then restarts is down since the restart.
func TestAnAgentThatRestarts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	outdatedSince := f.now()
	agent := func(reason string) {
		planes.ChangeStatus(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) {
			// As hub/cells writes it: the time belongs to the status, not to the reason.
			meta.RemoveStatusCondition(&c.Status.Conditions, v1alpha.ConditionComputeAgentReady)
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
				Type: v1alpha.ConditionComputeAgentReady, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: outdatedSince,
			})
		})
		f.mustReconcile(t)
	}
	current := func() bool {
		return meta.IsStatusConditionTrue(f.readOriginal(t).Status.Conditions, v1alpha.ConditionStatusCurrent)
	}
	agent(v1alpha.ReasonAgentOutdated)
	f.pass(10 * time.Minute)
	if agent(v1alpha.ReasonAgentNotReady); !current() || f.requeued != doubtAfter {
		t.Errorf("at once its Instances are unknown: requeued after %s", f.requeued)
	}
	f.pass(doubtAfter)
	if f.mustReconcile(t); current() {
		t.Error("when that has lasted, its Instances are still shown as they were")
	}
	if agent(v1alpha.ReasonAgentOutdated); !current() {
		t.Error("when it runs again, its Instances stay unknown")
	}
}

// recopy plays a hub that was restored: the copy is another object, of which no Work exists.
func (f *fixture) recopy(t *testing.T) {
	t.Helper()
	planes.Delete(t, f.Planes, f.copied)
	f.copied = planes.Create(t, f.Planes, f.newCopy())
	f.copied = planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{}
	})
}

// TestAReportFromBeforeAnOutage does not offer a lost city again, until the cell has reported since, or had time to.
func TestAReportFromBeforeAnOutage(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]func(*testing.T, *fixture){
		"it reports again": func(t *testing.T, f *fixture) {
			t.Helper()
			for number := 0; !f.endpoint(t).Serving; number++ {
				// A report that is the same is not stored again. The hub has a clock of its own.
				f.reach(t, "203.0.113.7", []string{"0-1", "0"}[number%2])
			}
		},
		"nothing has changed in it": func(t *testing.T, f *fixture) {
			t.Helper()
			f.clock.SetTime(f.cell.Status.Conditions[0].LastTransitionTime.Add(time.Minute))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newExposed(t)
			f.reach(t, "203.0.113.7", "0-1")
			f.endpoint(t)
			f.SetReady(t, planes.Get(t, f.Planes, "", f.cell.Name, f.cell), metav1.ConditionFalse, f.now())
			if got := f.endpoint(t); got.Serving || got.Reason != v1alpha.ReasonCellNotReady {
				t.Errorf("the lost city is %+v", got)
			}
			f.SetReady(t, planes.Get(t, f.Planes, "", f.cell.Name, f.cell), metav1.ConditionTrue, metav1.NewTime(time.Now().Add(2*time.Second)))
			if got := f.endpoint(t); got.Serving || got.Reason != v1alpha.ReasonReportOutdated || f.requeued == 0 {
				t.Errorf("by its report from before it is %+v", got)
			}
			later(t, f)
			if got := f.endpoint(t); !got.Serving {
				t.Errorf("later it is %+v", got)
			}
		})
	}
}

// leases plays the Lease of karmada-controller-manager.
type leases struct {
	client.Reader
	holder  string
	renewed int64
}

func (l *leases) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	lease, isLease := object.(*coordinationv1.Lease)
	if !isLease {
		return fmt.Errorf("%T is read", object)
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = new(l.holder), new(metav1.NewMicroTime(time.Unix(l.renewed, 0)))
	return nil
}

// TestALossAfterAnOutageOfTheHub: a karmada-controller-manager that has begun takes one failed probe for a failure, and needs 40 s to
// believe in success. The city stays offered meanwhile, and a city that is not offered is not offered for that.
func TestALossAfterAnOutageOfTheHub(t *testing.T) {
	t.Parallel()
	f := newExposed(t)
	lease := &leases{holder: "first"}
	f.reconciler.Karmada = path.NewKarmadaWatch(lease, f.clock)
	poll := func() {
		lease.renewed++
		f.reconciler.Karmada.Poll(t.Context())
	}
	ready := func(status metav1.ConditionStatus) {
		f.SetReady(t, planes.Get(t, f.Planes, "", f.cell.Name, f.cell), status, metav1.NewTime(f.clock.Now()))
	}
	poll()
	poll()
	f.reach(t, "203.0.113.7", "0-1")
	if got := f.endpoint(t); !got.Serving {
		t.Fatalf("the city is %+v", got)
	}

	f.pass(time.Minute)
	// Before this replica has seen the new leader.
	ready(metav1.ConditionFalse)
	if got := f.endpoint(t); !got.Serving || f.requeued == 0 {
		t.Errorf("by the first probe after the outage it is %+v, again after %s", got, f.requeued)
	}
	lease.holder = "second"
	poll()
	for range 5 {
		f.pass(10 * time.Second)
		poll()
		if got := f.endpoint(t); !got.Serving || f.requeued == 0 || f.requeued > time.Minute {
			t.Errorf("at %s it is %+v, again after %s", f.clock.Now(), got, f.requeued)
		}
	}
	f.pass(10 * time.Second)
	poll()
	if got := f.endpoint(t); got.Serving || got.Reason != v1alpha.ReasonCellNotReady {
		t.Errorf("a cell that stays lost is %+v", got)
	}
	// A third leader.
	lease.holder = "third"
	poll()
	if got := f.endpoint(t); got.Serving {
		t.Errorf("a city that was not offered is %+v", got)
	}
}
