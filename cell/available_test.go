// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// readyAt is the status of a Pod that became ready at a time.
func readyAt(at time.Time) corev1.PodStatus {
	status := readyPod("10.0.0.1")
	status.Conditions[0].LastTransitionTime = metav1.NewTime(at)
	return status
}

// TestAvailableAfterMinReadySeconds: an Instance that was Ready for a moment lets no other one start, and no Workload
// is available because of it.
func TestAvailableAfterMinReadySeconds(t *testing.T) {
	for name, test := range map[string]struct {
		minReady *int32
		want     time.Duration
	}{
		"by default": {nil, v1alpha.DefaultMinReady}, "as the deployment says": {new(int32(4)), 4 * time.Second}, "at once": {new(int32(0)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(2, func(d *v1alpha.WorkloadDeployment) { d.Spec.MinReadySeconds = test.minReady })
			f.setPod(f.pod(f.instance(deployment, 0)), readyAt(now))
			if result := f.reconcile(f.runtime(), "web-0"); result.RequeueAfter != test.want {
				t.Errorf("looked at again after %s, want %s", result.RequeueAfter, test.want)
			}
			f.wantReady("web-0", v1alpha.ReasonAvailable)
			if test.want > 0 {
				f.reconcile(f.deployments(), "web")
				f.wantInstances([]string{"web-0"}, nil)
				f.rollUp()
				f.wantAvailable(1, 0)
				f.clock.SetTime(now.Add(test.want))
				f.reconcile(f.runtime(), "web-0")
			}
			f.reconcile(f.deployments(), "web")
			f.wantInstances([]string{"web-0", "web-1"}, nil)
			f.rollUp()
			f.wantAvailable(1, 1)
		})
	}
}

// wantAvailable wants so many Ready and Available Instances in the status of the deployment.
func (f *fixture) wantAvailable(ready, available int32) {
	f.t.Helper()
	status := f.storedDeployment().Status
	condition := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionAvailable)
	if status.ReadyReplicas != ready || status.AvailableReplicas != available ||
		(condition.Status == metav1.ConditionTrue) != (available > 0) {
		f.t.Errorf("%d Instances are Ready and %d Available, and Available is %+v; want %d and %d", status.ReadyReplicas,
			status.AvailableReplicas, condition, ready, available)
	}
}

// TestProbeFailing: the message of Ready has the answer that the probe got, and keeps it. Only an Event of the kubelet
// has the answer.
func TestProbeFailing(t *testing.T) {
	f := newFixture(t)
	instance := f.instance(f.deployment(1), 0)
	pod := f.pod(instance, func(p *corev1.Pod) {
		p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}, PeriodSeconds: 2,
		}
	})
	f.setPod(pod, corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Started: new(true), State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)},
		}}},
	})
	if result := f.reconcile(f.runtime(), instance.Name); result.RequeueAfter != 6*time.Second {
		t.Errorf("looked at again after %s; the probe has three periods of 2 s", result.RequeueAfter)
	}
	f.wantReady(instance.Name, "-"+v1alpha.ReasonProvisioning)
	for i, message := range []string{"Readiness probe failed: early", "Readiness probe failed: exit status 7"} {
		f.create(&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: pod.Namespace, Name: "web-0." + string(rune('a'+i))},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Reason:         "Unhealthy", Message: message, Type: corev1.EventTypeWarning,
			LastTimestamp: metav1.NewTime(now.Add(time.Duration(i) * time.Second)),
		})
	}
	f.clock.SetTime(now.Add(6 * time.Second))
	f.reconcile(f.runtime(), instance.Name)
	ready := meta.FindStatusCondition(f.storedInstance(instance.Name).Status.Conditions, v1alpha.ConditionReady)
	want := "the readiness probe of container app fails: Readiness probe failed: exit status 7"
	if ready.Reason != v1alpha.ReasonProbeFailing || ready.Message != want {
		t.Errorf("Ready is %+v, want %q", ready, want)
	}
	settled := f.runtime()
	settled.Client, settled.APIReader = f.readOnly(), nil
	f.reconcile(settled, instance.Name)
}

// TestCrashLoop: for an hour a container runs for 6 seconds, ends, and waits as long as a kubelet lets it. Each restart
// costs two writes of the Instance and no Event, and the Instance is never Available.
func TestCrashLoop(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1)
	pod := f.pod(f.instance(deployment, 0))
	versions := []string{f.storedInstance("web-0").ResourceVersion}
	step := func(change func(*corev1.PodStatus)) {
		status := readyAt(f.clock.Now())
		change(&status)
		pod = f.setPod(pod, status)
		f.reconcile(f.runtime(), "web-0")
		stored := f.storedInstance("web-0")
		versions = append(versions, stored.ResourceVersion)
		if meta.IsStatusConditionTrue(stored.Status.Conditions, v1alpha.ConditionAvailable) {
			t.Fatalf("the Instance is Available: %+v", stored.Status)
		}
	}
	restarts := int32(0)
	for backoff := 10 * time.Second; f.clock.Since(now) < time.Hour; backoff = min(2*backoff, 5*time.Minute) {
		ended := corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: metav1.NewTime(f.clock.Now())},
		}
		step(func(s *corev1.PodStatus) {
			s.ContainerStatuses = []corev1.ContainerStatus{
				{Name: "app", RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			}
		})
		f.clock.SetTime(f.clock.Now().Add(6 * time.Second))
		ended.Terminated.FinishedAt = metav1.NewTime(f.clock.Now())
		notReady := func(state, last corev1.ContainerState) func(*corev1.PodStatus) {
			return func(s *corev1.PodStatus) {
				s.Conditions[0].Status = corev1.ConditionFalse
				s.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: restarts, State: state, LastTerminationState: last}}
			}
		}
		step(notReady(ended, corev1.ContainerState{}))
		step(notReady(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}}, ended))
		f.clock.SetTime(f.clock.Now().Add(backoff))
		restarts++
	}
	writes := len(slices.Compact(versions)) - 1
	if restarts < 10 || writes > 2*int(restarts) || len(f.recorder.Events) > 0 {
		t.Errorf("%d restarts cost %d writes and %d Events", restarts, writes, len(f.recorder.Events))
	}
	t.Logf("%d restarts in an hour cost %d writes", restarts, writes)
	status := f.storedInstance("web-0").Status
	if last := status.Containers[0].LastTermination; status.Restarts != restarts-1 || last == nil || last.ExitCode != 1 ||
		!strings.Contains(last.Reason, "Error") {
		t.Errorf("after %d restarts the status is %+v", restarts-1, status)
	}
}
