// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// readySince sets a Pod's condition Ready, with an earlier transition time.
func readySince(ago time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-ago)),
		})
	}
}

// TestAvailable: a Pod that is ready only for a moment does not turn its Instance Available.
func TestAvailable(t *testing.T) {
	for name, test := range map[string]struct {
		pod      *corev1.Pod
		minReady time.Duration
		want     metav1.ConditionStatus
		wantRest time.Duration
	}{
		"ready until now": {pod("Running", onNode, readySince(0)), 10 * time.Second, metav1.ConditionFalse, 10 * time.Second},
		"ready for a while": {
			pod("Running", onNode, readySince(7*time.Second)), 10 * time.Second, metav1.ConditionFalse, 3 * time.Second,
		},
		"ready for long enough": {pod("Running", onNode, readySince(10*time.Second)), 10 * time.Second, metav1.ConditionTrue, 0},
		"ready is enough":       {pod("Running", onNode, readySince(0)), 0, metav1.ConditionTrue, 0},
		"not ready": {
			pod("Running", onNode, with(corev1.PodReady, corev1.ConditionFalse, "")), 10 * time.Second, metav1.ConditionFalse, 0,
		},
		"ready, and being stopped": {
			pod("Running", onNode, readySince(time.Hour), deletedPod), 10 * time.Second, metav1.ConditionFalse, -time.Hour,
		},
		"ready on a node that's new": {
			pod("Running", onNode, readySince(-time.Second)), 10 * time.Second, metav1.ConditionFalse, 11 * time.Second,
		},
	} {
		seen := &observed{instance: sandbox(v1alpha.SandboxContainer{}), pod: test.pod, minReady: test.minReady}
		got := meta.FindStatusCondition(desiredStatus(seen, apply.Stamp{Now: now}).Conditions, v1alpha.ConditionAvailable)
		if got.Status != test.want {
			t.Errorf("%s: Available is %+v, want %s", name, got, test.want)
		}
		if rest := seen.untilAvailable(); max(rest, 0) != max(test.wantRest, 0) {
			t.Errorf("%s: Available in %s, want %s", name, rest, test.wantRest)
		}
	}
}

func TestContainerStatuses(t *testing.T) {
	ended := &corev1.ContainerStateTerminated{
		Reason: "Error", ExitCode: 3, Message: strings.Repeat("x", 4096), FinishedAt: metav1.NewTime(now),
	}
	seen := pod("Running", onNode, func(p *corev1.Pod) {
		p.Status.StartTime = &metav1.Time{Time: now}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "setup", ImageID: "setup@sha256:1", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.NewTime(now)},
		}}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "app", ImageID: "app@sha256:2", RestartCount: 2, LastTerminationState: corev1.ContainerState{Terminated: ended}},
			{Name: "waits"},
		}
	})
	got := desiredStatus(&observed{instance: sandbox(v1alpha.SandboxContainer{}), pod: seen}, apply.Stamp{Now: now})
	want := []v1alpha.InstanceContainerStatus{
		{
			Name: "setup", ImageID: "setup@sha256:1", LastTermination: &v1alpha.ContainerTermination{
				Reason: "Completed", FinishedAt: metav1.NewTime(now),
			},
		},
		{Name: "app", ImageID: "app@sha256:2", RestartCount: 2, LastTermination: &v1alpha.ContainerTermination{
			Reason: "Error", ExitCode: 3, Message: reasons.Shorten(ended.Message, v1alpha.MaxMessage), FinishedAt: metav1.NewTime(now),
		}},
	}
	if difference := cmp.Diff(want, got.Containers); difference != "" || got.Restarts != 2 || !got.StartTime.Time.Equal(now) {
		t.Errorf("%d restarts, started at %s, (-want +got):\n%s", got.Restarts, got.StartTime, difference)
	}
}

// runs adds a container that runs for some time, with a change of its spec.
func runs(ago time.Duration, change func(*corev1.Container)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		container := corev1.Container{Name: "app"}
		change(&container)
		p.Spec.Containers = append(p.Spec.Containers, container)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: "app", Started: new(container.StartupProbe == nil),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-ago))}},
		})
	}
}

func TestProbes(t *testing.T) {
	probe := &corev1.Probe{InitialDelaySeconds: 5, PeriodSeconds: 10, FailureThreshold: 3}
	readiness := func(c *corev1.Container) { c.ReadinessProbe = probe }
	both := func(c *corev1.Container) { c.ReadinessProbe, c.StartupProbe = probe, probe }
	notReady := with(corev1.PodReady, corev1.ConditionFalse, "containers with unready status: [app]")
	for name, test := range map[string]struct {
		pod                     *corev1.Pod
		wantReason, wantMessage string
	}{
		"a probe that has time": {
			pod("Running", onNode, notReady, runs(34*time.Second, readiness)), "Provisioning",
			"container app runs; its readiness probe has not succeeded yet",
		},
		"a probe that fails": {
			pod("Running", onNode, notReady, runs(35*time.Second, readiness)), "ProbeFailing",
			"the readiness probe of container app fails: HTTP probe failed with statuscode: 503",
		},
		"a startup probe": {
			pod("Running", onNode, notReady, runs(time.Hour, both)), "Provisioning", "container app runs; its startup probe has not succeeded yet",
		},
		"no probe": {
			pod("Running", onNode, notReady, runs(time.Hour, func(*corev1.Container) {})), "Provisioning", "containers with unready status: [app]",
		},
		"an init container that does not end": {pod("Pending", onNode, notReady, func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{
				{Name: "setup", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			}
		}), "Provisioning", "init container setup runs; the containers after it start when it has ended"},
		"an init container that fails": {pod("Pending", onNode, notReady, func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "setup", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"},
			}}}
		}), "InstanceCrashing", "container setup ends with exit code 2 (Error)"},
	} {
		seen := &observed{instance: sandbox(v1alpha.SandboxContainer{}), pod: test.pod, probeError: "HTTP probe failed with statuscode: 503"}
		got := meta.FindStatusCondition(desiredStatus(seen, apply.Stamp{Now: now}).Conditions, v1alpha.ConditionReady)
		if got.Reason != test.wantReason || !strings.HasSuffix(got.Message, test.wantMessage) {
			t.Errorf("%s: Ready is %s %q, want %s %q", name, got.Reason, got.Message, test.wantReason, test.wantMessage)
		}
	}
}
