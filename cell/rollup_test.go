// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

func (f *fixture) rollup() *rollup.Reconciler { return rollup.New(f.cached, f.clock) }

// rollUp reconciles the deployment web until its report is written, one second at the most.
func (f *fixture) rollUp() reconcile.Result {
	f.t.Helper()
	r, began := f.rollup(), f.clock.Now()
	result := f.reconcile(r, "web")
	for result.RequeueAfter > 0 && f.clock.Since(began) < time.Second {
		f.clock.SetTime(f.clock.Now().Add(result.RequeueAfter))
		result = f.reconcile(r, "web")
	}
	return result
}

func TestRollupReconcile(t *testing.T) {
	tests := map[string]struct {
		given func(*fixture)
		// wantCounts are replicas, current, desired and ready.
		wantCounts    [4]int32
		wantInstances []string
		wantAvailable string
	}{
		"no Instance yet": {
			given:      func(f *fixture) { f.deployment(2) },
			wantCounts: [4]int32{0, 0, 2, 0}, wantAvailable: "-" + v1alpha.ReasonInstancesProvisioning,
		},
		"one is Ready, one is of another template": {
			given: func(f *fixture) {
				deployment := f.deployment(2)
				f.setReady(f.instance(deployment, 0), metav1.ConditionTrue)
				f.setReady(f.instance(deployment, 1, fromTemplate("old")), metav1.ConditionFalse)
			},
			wantCounts: [4]int32{2, 1, 2, 1}, wantInstances: []string{"web-0", "web-1"}, wantAvailable: v1alpha.ReasonStableInstanceFound,
		},
		"an Instance of an earlier deployment of the name is not reported": {
			given: func(f *fixture) {
				earlier := f.deployment(1)
				f.setReady(f.instance(earlier, 0), metav1.ConditionTrue)
				f.remove(earlier)
				f.deployment(1)
			},
			wantCounts: [4]int32{0, 0, 1, 0}, wantAvailable: "-" + v1alpha.ReasonInstancesProvisioning,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			test.given(f)
			if result := f.rollUp(); result != (reconcile.Result{}) {
				t.Errorf("requeued: %+v", result)
			}
			stored := f.storedDeployment()
			status := &stored.Status
			if got := [4]int32{status.Replicas, status.CurrentReplicas, status.DesiredReplicas, status.ReadyReplicas}; got != test.wantCounts {
				t.Errorf("counts %v, want %v", got, test.wantCounts)
			}
			var names []string
			for _, entry := range wire.Instances(stored) {
				names = append(names, entry.Name)
			}
			if !slices.Equal(names, test.wantInstances) {
				t.Errorf("Instances %v, want %v", names, test.wantInstances)
			}
			if got := reasons(status.Conditions)[v1alpha.ConditionAvailable]; got != test.wantAvailable ||
				status.ObservedGeneration != stored.Generation {
				t.Errorf("Available is %q, want %q, observed generation %d of %d", got, test.wantAvailable,
					status.ObservedGeneration, stored.Generation)
			}
		})
	}
}

func TestRollupWritesOnlyWhatDiffers(t *testing.T) {
	f := newFixture(t)
	instance := f.instance(f.deployment(1), 0)
	f.rollUp()
	f.clock.SetTime(now.Add(time.Hour))
	f.reconcile(rollup.New(f.readOnly(), f.clock), "web")
	f.setReady(instance, metav1.ConditionTrue)
	f.rollUp()
	later := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionAvailable)
	if later.Status != metav1.ConditionTrue || !later.LastTransitionTime.Time.Equal(now.Add(time.Hour)) {
		t.Errorf("Available %+v", later)
	}
}

// TestRollupWaitsForWhatLasts: a transient state waits for the lasting one, so that one report shows both, but not
// forever.
func TestRollupWaitsForWhatLasts(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2)
	first := f.instance(deployment, 0)
	r := f.rollup()
	at := func(after time.Duration, wantAfter time.Duration, wantReplicas, wantReady int32) {
		t.Helper()
		f.clock.SetTime(now.Add(after))
		result := f.reconcile(r, "web")
		status := f.storedDeployment().Status
		if result.RequeueAfter != wantAfter || status.Replicas != wantReplicas || status.ReadyReplicas != wantReady {
			t.Errorf("after %s requeued after %s, %d replicas, %d Ready; want %s, %d, %d", after, result.RequeueAfter,
				status.Replicas, status.ReadyReplicas, wantAfter, wantReplicas, wantReady)
		}
	}
	at(0, 500*time.Millisecond, 0, 0)
	f.setReady(first, metav1.ConditionTrue)
	at(200*time.Millisecond, 0, 1, 1)
	second := f.instance(deployment, 1)
	at(300*time.Millisecond, 500*time.Millisecond, 1, 1)
	at(799*time.Millisecond, time.Millisecond, 1, 1)
	at(800*time.Millisecond, 0, 2, 1)
	f.setReady(second, metav1.ConditionTrue)
	at(810*time.Millisecond, 0, 2, 2)
	f.remove(deployment)
	f.reconcile(r, "web")
	f.deployment(1)
	at(820*time.Millisecond, 500*time.Millisecond, 0, 0)
}

// TestRollupOfARollout: while Instances are replaced, reports are a second apart, and no report counts a Pod that has
// another template than its Instance. The end is reported at once.
func TestRollupOfARollout(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2, halfAtOnce)
	f.running(deployment, 0)
	f.running(deployment, 1)
	f.rollUp()
	if status := f.storedDeployment().Status; status.AvailableReplicas != 2 {
		t.Fatalf("before the rollout: %+v", status.ReplicaCounts)
	}
	f.changeDeployment(newImage)
	r, began := f.rollup(), f.clock.Now()
	at := func(after time.Duration, wantAfter time.Duration, wantCurrent, wantReady int32) {
		t.Helper()
		f.clock.SetTime(began.Add(after))
		result := f.reconcile(r, "web")
		status := f.storedDeployment().Status
		if result.RequeueAfter != wantAfter || status.CurrentReplicas != wantCurrent || status.ReadyReplicas != wantReady {
			t.Errorf("after %s requeued after %s, %d current, %d Ready; want %s, %d, %d", after, result.RequeueAfter,
				status.CurrentReplicas, status.ReadyReplicas, wantAfter, wantCurrent, wantReady)
		}
	}
	replace := func(name string) {
		t.Helper()
		f.reconcile(f.deployments(), "web")
		f.get(&corev1.Pod{}, name) // its Pod is of the template before
	}
	restart := func(name string) {
		t.Helper()
		f.reconcile(f.runtime(), name)
		f.setPod(f.storedPod(name), readyAt(began.Add(-time.Minute)))
		f.reconcile(f.runtime(), name)
	}
	f.onNode("node", "web-0", "web-1")
	replace("web-1")
	at(0, time.Second, 2, 2)
	at(900*time.Millisecond, 100*time.Millisecond, 2, 2)
	at(time.Second, 0, 1, 1)
	f.remove(f.storedPod("web-1"))
	restart("web-1")
	at(1100*time.Millisecond, 900*time.Millisecond, 1, 1)
	replace("web-0")
	at(1200*time.Millisecond, 800*time.Millisecond, 1, 1)
	f.remove(f.storedPod("web-0"))
	restart("web-0")
	at(1300*time.Millisecond, 0, 2, 2)
}

func TestRollupRaces(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1)
	f.setReady(f.instance(deployment, 0), metav1.ConditionTrue)
	racing := rollup.New(f.racing(func() {
		f.remove(deployment)
		f.deployment(2)
	}), f.clock)
	if result := f.reconcile(racing, "web"); result.RequeueAfter != time.Second {
		t.Errorf("requeued after the conflict: %+v", result)
	}
	if got := f.storedDeployment().Status; got.DesiredReplicas != 0 || got.Conditions != nil {
		t.Errorf("a deployment got the status of an earlier one of its name: %+v", got)
	}
}
