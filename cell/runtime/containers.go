// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// containerStatuses are the states of the containers of a Pod that its node has reported, init containers first.
func containerStatuses(pod *corev1.Pod) []v1alpha.InstanceContainerStatus {
	var result []v1alpha.InstanceContainerStatus
	for _, observed := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		status := v1alpha.InstanceContainerStatus{
			Name: observed.Name, RestartCount: observed.RestartCount, ImageID: observed.ImageID, LastTermination: lastTermination(&observed),
		}
		if status.ImageID != "" || status.LastTermination != nil || status.RestartCount > 0 {
			result = append(result, status)
		}
	}
	return result
}

// lastTermination returns the last termination of a container; nil: it has not ended.
func lastTermination(container *corev1.ContainerStatus) *v1alpha.ContainerTermination {
	last := cmp.Or(container.State.Terminated, container.LastTerminationState.Terminated)
	if last == nil {
		return nil
	}
	return &v1alpha.ContainerTermination{
		Reason: last.Reason, ExitCode: last.ExitCode, FinishedAt: last.FinishedAt,
		Message: reasons.Shorten(last.Message, v1alpha.MaxMessage),
	}
}

// examineInit returns why the init containers of a Pod have not all ended or, of sidecars, started; nil without such a
// reason.
func examineInit(pod *corev1.Pod) *finding {
	for i := range pod.Status.InitContainerStatuses {
		container := &pod.Status.InitContainerStatuses[i]
		terminated := container.State.Terminated
		if terminated != nil && terminated.ExitCode == 0 && terminated.Reason != oomKilled {
			continue
		}
		if found := cmp.Or(examineContainer(pod, container), examineOrder(pod, container)); found != nil {
			return found
		}
	}
	return nil
}

// examineOrder returns a finding if an init container runs that holds up the containers after it.
func examineOrder(pod *corev1.Pod, container *corev1.ContainerStatus) *finding {
	if container.State.Running == nil || sidecar(pod, container.Name) {
		return nil
	}
	return &finding{
		v1alpha.ReasonProvisioning, fmt.Sprintf("init container %s runs; the containers after it start when it has ended", container.Name),
	}
}

// sidecar reports whether an init container of a Pod runs beside its containers.
func sidecar(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
	})
}

// probing is a running container whose probe has not succeeded yet or does not succeed any more.
type probing struct {
	container, probe string
	// due is when the probe must have succeeded; zero: the node restarts the container if it does not.
	due time.Time
}

// examineProbes returns the first container of a Pod that a probe keeps from being ready; nil without one.
func examineProbes(pod *corev1.Pod) *probing {
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		at := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == container.Name })
		if at < 0 {
			continue
		}
		if found := probingOf(&container, &statuses[at]); found != nil {
			return found
		}
	}
	return nil
}

// probingOf returns the probe that keeps a running container from being ready; nil without one.
func probingOf(container *corev1.Container, status *corev1.ContainerStatus) *probing {
	running, probe := status.State.Running, container.ReadinessProbe
	switch {
	case running == nil || status.Ready:
	case container.StartupProbe != nil && !ptr.Deref(status.Started, false):
		return &probing{container: container.Name, probe: "startup"}
	case probe != nil:
		// The API server has set the defaults.
		seconds := probe.InitialDelaySeconds + probe.PeriodSeconds*probe.FailureThreshold
		return &probing{container.Name, "readiness", running.StartedAt.Add(time.Duration(seconds) * time.Second)}
	}
	return nil
}

// finding is why the Pod is not ready; nil without a probing.
func (p *probing) finding(now time.Time) *finding {
	switch {
	case p == nil:
		return nil
	case p.due.IsZero() || now.Before(p.due):
		return &finding{v1alpha.ReasonProvisioning, fmt.Sprintf("container %s runs; its %s probe has not succeeded yet", p.container, p.probe)}
	}
	return &finding{v1alpha.ReasonProbeFailing, fmt.Sprintf("the %s probe of container %s fails", p.probe, p.container)}
}
