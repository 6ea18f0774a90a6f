// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
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
		status := v1alpha.InstanceContainerStatus{Name: observed.Name, RestartCount: observed.RestartCount, ImageID: observed.ImageID}
		last := observed.LastTerminationState.Terminated
		if terminated := observed.State.Terminated; terminated != nil {
			last = terminated
		}
		if last != nil {
			status.LastTermination = &v1alpha.ContainerTermination{
				Reason: last.Reason, ExitCode: last.ExitCode, FinishedAt: last.FinishedAt,
				Message: reasons.Shorten(last.Message, v1alpha.MaxMessage),
			}
		}
		if status.ImageID != "" || last != nil || status.RestartCount > 0 {
			result = append(result, status)
		}
	}
	return result
}

// examineInit returns why the init containers of a Pod have not all ended or, of sidecars, started; nil without such a
// reason.
func examineInit(pod *corev1.Pod) *finding {
	for i := range pod.Status.InitContainerStatuses {
		container := &pod.Status.InitContainerStatuses[i]
		if terminated := container.State.Terminated; terminated != nil && terminated.ExitCode == 0 && terminated.Reason != oomKilled {
			continue
		}
		if trouble := examineContainer(pod, container); trouble != nil {
			return trouble
		}
		if container.State.Running != nil && !sidecar(pod, container.Name) {
			return &finding{
				v1alpha.ReasonProvisioning, fmt.Sprintf("init container %s runs; the containers after it start when it has ended", container.Name),
			}
		}
	}
	return nil
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
		if at < 0 || statuses[at].State.Running == nil || statuses[at].Ready {
			continue
		}
		if container.StartupProbe != nil && !ptr.Deref(statuses[at].Started, false) {
			return &probing{container: container.Name, probe: "startup"}
		}
		if probe := container.ReadinessProbe; probe != nil {
			// The API server has set the defaults.
			seconds := probe.InitialDelaySeconds + probe.PeriodSeconds*probe.FailureThreshold
			return &probing{container.Name, "readiness", statuses[at].State.Running.StartedAt.Add(time.Duration(seconds) * time.Second)}
		}
	}
	return nil
}

// finding is why the Pod is not ready.
func (p *probing) finding(now time.Time) *finding {
	if p.due.IsZero() || now.Before(p.due) {
		return &finding{v1alpha.ReasonProvisioning, fmt.Sprintf("container %s runs; its %s probe has not succeeded yet", p.container, p.probe)}
	}
	return &finding{v1alpha.ReasonProbeFailing, fmt.Sprintf("the %s probe of container %s fails", p.probe, p.container)}
}
