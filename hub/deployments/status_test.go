// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// report is the report of projection about a deployment.
type report struct {
	reason  string
	message string
	ready   int32
	rolling bool
}

func (f *fixture) report(t *testing.T, name string, r report) {
	t.Helper()
	condition := func(kind string, is bool, reason, message string) metav1.Condition {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Unix(1000, 0)}
	}
	planes.ChangeStatus(t, f.Planes, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
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
	})
}

// TestTheStatusOfARecreatedWorkload: the status of a Workload is not written to a later one of its name.
func TestTheStatusOfARecreatedWorkload(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 2})
	f.Project.Once("apply status", "Workload", func() error {
		planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Finalizers = nil })
		planes.Delete(t, f.Planes, workload)
		f.workload(t, "main DFW")
		return nil
	})
	if err := f.reconcile(t); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if got := f.readWorkload(t); got.UID == workload.UID || len(got.Status.Conditions) > 0 {
		t.Errorf("the new Workload is %+v", got)
	}
}

// TestEvents: one Event reports a city without a location, and another one follows if the city changes.
func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	warned := func() bool {
		f.Project.Calls()
		f.mustReconcileKeepingCalls(t)
		return slices.Contains(f.Project.Calls(), planes.Call{Verb: "event " + v1alpha.ReasonNoMatchingLocation, Kind: "Workload", Name: "web"})
	}
	if warned() {
		t.Error("of nothing")
	}
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Placements = placementsOf([]string{"main DFW AMS"}) })
	if !warned() {
		t.Error("not of AMS")
	}
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Template = planes.Template("registry.example/app:2") })
	if warned() {
		t.Error("of AMS, again")
	}
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Placements = placementsOf([]string{"main DFW LHR"}) })
	if !warned() {
		t.Error("not of LHR")
	}
	f.awaitEvent(t, func(event *corev1.Event) bool {
		return event.InvolvedObject.Name == "web" && event.InvolvedObject.UID == workload.UID && event.Type == "Warning" &&
			event.Reason == v1alpha.ReasonNoMatchingLocation && strings.Contains(event.Message, "LHR")
	})
}

func (f *fixture) mustReconcileKeepingCalls(t *testing.T) {
	t.Helper()
	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
}

// awaitEvent waits for an Event: they are written in the background.
func (f *fixture) awaitEvent(t *testing.T, matches func(*corev1.Event) bool) {
	t.Helper()
	watch, err := f.Client.Watch(t.Context(), &corev1.EventList{}, client.InNamespace(f.Namespace.Name))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	timeout := time.After(time.Minute)
	for {
		select {
		case change := <-watch.ResultChan():
			if event, ok := change.Object.(*corev1.Event); ok && matches(event) {
				return
			}
		case <-timeout:
			t.Fatal("there is no such Event")
		}
	}
}

// TestAPassingStatusWaits: a transient status waits for the one that lasts.
func TestAPassingStatusWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.reconciler.Passing = pace.NewWrites[mcreconcile.Request](f.clock)
	f.workload(t, "main DFW")
	if result, err := f.reconciler.Reconcile(t.Context(), f.request()); err != nil || result.RequeueAfter != 0 ||
		f.names(t) != "web-main-dfw" {
		t.Errorf("with the finalizer it makes %q, requeued after %s, %v", f.names(t), result.RequeueAfter, err)
	}
	step := func(wantAfter time.Duration, wantReady int32, wantWritten bool) {
		t.Helper()
		result, err := f.reconciler.Reconcile(t.Context(), f.request())
		status := f.readWorkload(t).Status
		if wantAfter == 0 && status.LastProgressTime != nil {
			wantAfter = status.LastProgressTime.Add(10 * time.Minute).Sub(f.clock.Now())
		}
		if err != nil || result.RequeueAfter != wantAfter || status.ReadyReplicas != wantReady || (status.ObservedGeneration > 0) != wantWritten {
			t.Errorf("requeued after %s, %v, status %+v; want %s, %d, %t", result.RequeueAfter, err, status, wantAfter, wantReady, wantWritten)
		}
	}
	step(pace.Limit, 0, false)
	f.clock.SetTime(f.clock.Now().Add(pace.Limit))
	step(0, 0, true)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonInstancesProvisioning, message: "0 of 2", rolling: true})
	step(pace.Limit, 0, true)
	f.report(t, "web-main-dfw", report{reason: v1alpha.ReasonStableInstanceFound, ready: 1, rolling: true})
	step(0, 1, true)
}
