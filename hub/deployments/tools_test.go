// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// seen is a Workload that tools read, and the state of its cells.
type seen struct {
	*cell
	// late says that Instances that do not start exceed the progress deadline.
	late bool
}

// tell gives a deployment the conditions that hub/projection gives it.
func (s *seen) tell(d *v1alpha.WorkloadDeployment) {
	available := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonStableInstanceFound}
	progressing := metav1.Condition{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonSettled}
	switch missing := d.Status.AvailableReplicas < d.Status.AssignedReplicas; {
	case s.Suspended:
		available.Status, available.Reason = metav1.ConditionFalse, v1alpha.ReasonProjectSuspended
	case missing && s.late:
		progressing.Reason = v1alpha.ReasonProgressDeadlineExceeded
	case missing:
		progressing.Status, progressing.Reason = metav1.ConditionTrue, v1alpha.ReasonRollingOut
	}
	if d.Status.AvailableReplicas == 0 && d.Status.AssignedReplicas > 0 && !s.Suspended {
		available.Status, available.Reason = metav1.ConditionFalse, v1alpha.ReasonImageUnavailable
	}
	for _, condition := range []metav1.Condition{available, progressing} {
		condition.LastTransitionTime = metav1.NewTime(testBegin)
		meta.SetStatusCondition(&d.Status.Conditions, condition)
	}
}

// record records the Workload in a state. hack/tools/gitops reads the records with the libraries of the tools.
func (s *seen) record(t *testing.T, state string) {
	t.Helper()
	planes.Record(t, s.f.Planes, s.f.readWorkload(t), "testdata/seen/"+state+".yaml", strings.NewReplacer())
}

func newSeen(t *testing.T) *seen {
	t.Helper()
	f := newFixture(t, "DFW ORD")
	f.requeues = true
	s := &seen{cell: f.cell()}
	s.Tells = s.tell
	return s
}

// TestWhatToolsSee records each state of a Workload as an API server shows it.
func TestWhatToolsSee(t *testing.T) {
	t.Parallel()
	s := newSeen(t)
	created := s.f.workload(t, "main DFW ORD")
	s.record(t, "created")
	s.f.mustReconcile(t)
	s.record(t, "starting")

	s.Broken = append(s.Broken, simulated.Hash(t, &created.Spec.Template))
	s.settle(t)
	s.record(t, "image-not-pulled")
	s.late = true
	s.settle(t)
	s.record(t, "image-not-pulled-for-long")
	s.Broken, s.late = nil, false
	s.settle(t)
	s.record(t, "serving")

	s.f.image(t, "registry.example/app:2")
	s.record(t, "changed")
	s.f.mustReconcile(t)
	s.record(t, "rolling-out")
	s.settle(t)
	s.record(t, "rolled-out")

	s.Suspended = true
	s.settle(t)
	s.record(t, "suspended")
	s.Suspended = false
	s.settle(t)
	s.scale(t, 0)
	s.settle(t)
	s.record(t, "stopped")
	planes.Delete(t, s.f.Planes, s.f.readWorkload(t))
	s.record(t, "being-deleted")
}

// fails shows an Instance in the project whose image cannot be pulled.
func (s *seen) fails(t *testing.T, name string) {
	t.Helper()
	workload := s.f.readWorkload(t)
	instance := planes.Create(t, s.f.Planes, &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: workload.Namespace, Name: name}, Spec: *workload.Spec.Template.Spec.DeepCopy(),
	})
	planes.ChangeStatus(t, s.f.Planes, instance, func(i *v1alpha.Instance) {
		i.Status.Conditions = []metav1.Condition{{
			Type: v1alpha.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonImageUnavailable,
			Message: "registry.example/app:broken: not found", LastTransitionTime: metav1.NewTime(testBegin),
		}}
	})
}

func (s *seen) scale(t *testing.T, replicas int32) {
	t.Helper()
	planes.Change(t, s.f.Planes, s.f.readWorkload(t), func(w *v1alpha.Workload) {
		w.Spec.Placements[0].ScaleSettings.MinReplicas = replicas
	})
}

// TestWhatToolsSeeOfARollout records a rollout that stops, one that is undone, and one that is paused.
func TestWhatToolsSeeOfARollout(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]v1alpha.RolloutFailurePolicy{
		"rollout-failed": v1alpha.RolloutPause, "rollout-undone": v1alpha.RolloutUndo,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeen(t)
			s.f.workload(t, "main DFW ORD")
			s.f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.OnFailure = policy })
			s.f.mustReconcile(t)
			s.settle(t)
			s.Broken = append(s.Broken, s.f.image(t, "registry.example/app:broken"))
			s.fails(t, "web-main-dfw-1")
			s.settle(t)
			s.record(t, name+"-soon")
			s.late = true
			s.settle(t)
			s.record(t, name)

			s.late = false
			s.f.image(t, "registry.example/app:3")
			s.settle(t)
			s.record(t, name+"-corrected")
		})
	}
	s := newSeen(t)
	s.f.workload(t, "main DFW ORD")
	s.f.mustReconcile(t)
	s.settle(t)
	s.f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.Paused = true })
	s.f.image(t, "registry.example/app:2")
	s.settle(t)
	s.record(t, "rollout-paused")
}
