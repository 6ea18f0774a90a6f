// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// finding is why an Instance is not Ready.
type finding struct{ reason, message string }

// waitingReasons map a kubelet's reasons why a container does not start to the reasons of Ready on an Instance.
var waitingReasons = map[string]string{
	"ErrImagePull":               v1alpha.ReasonImageUnavailable,
	"ImagePullBackOff":           v1alpha.ReasonImageUnavailable,
	"InvalidImageName":           v1alpha.ReasonImageUnavailable,
	"ErrImageNeverPull":          v1alpha.ReasonImageUnavailable,
	"ImageInspectError":          v1alpha.ReasonImageUnavailable,
	"RegistryUnavailable":        v1alpha.ReasonImageUnavailable,
	"SignatureValidationFailed":  v1alpha.ReasonImageUnavailable,
	"CrashLoopBackOff":           v1alpha.ReasonInstanceCrashing,
	"RunContainerError":          v1alpha.ReasonInstanceCrashing,
	"CreateContainerConfigError": v1alpha.ReasonConfigurationError,
	"CreateContainerError":       v1alpha.ReasonConfigurationError,
}

// examine says why the Instance of a Pod is not Ready; nil when it is.
func examine(pod *corev1.Pod) *finding {
	provisioning := func(message string) *finding { return &finding{v1alpha.ReasonProvisioning, message} }
	switch {
	case !pod.DeletionTimestamp.IsZero():
		return provisioning("the Pod is being stopped")
	case finished(pod):
		return provisioning(strings.TrimSpace(fmt.Sprintf("the Pod has ended and is being replaced: %s %s", pod.Status.Reason, pod.Status.Message)))
	case podCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue:
		return nil
	}
	if trouble := examineContainers(pod); trouble != nil {
		return trouble
	}
	if scheduled := podCondition(pod, corev1.PodScheduled); scheduled.Status == corev1.ConditionFalse {
		return provisioning("no node for the Pod: " + scheduled.Message)
	}
	if pod.Spec.NodeName == "" {
		return provisioning("the Pod has no node yet")
	}
	return provisioning(withDetail("the Pod is not ready", podCondition(pod, corev1.PodReady).Message))
}

func examineContainers(pod *corev1.Pod) *finding {
	for i := range pod.Status.ContainerStatuses {
		container := &pod.Status.ContainerStatuses[i]
		if terminated := container.State.Terminated; terminated != nil {
			return crashed(container.Name, terminated)
		}
		waiting := container.State.Waiting
		if waiting == nil || waitingReasons[waiting.Reason] == "" {
			continue
		}
		switch reason := waitingReasons[waiting.Reason]; {
		case reason == v1alpha.ReasonImageUnavailable:
			return &finding{reason, withDetail(fmt.Sprintf("container %s: image %s cannot be pulled", container.Name, container.Image), pullError(waiting))}
		case waiting.Reason == "CrashLoopBackOff" && container.LastTerminationState.Terminated != nil:
			return crashed(container.Name, container.LastTerminationState.Terminated)
		default:
			return &finding{reason, withDetail("container "+container.Name, waiting.Message)}
		}
	}
	return nil
}

// crashed leaves out how often the container was restarted: a message that changes with each restart would be written and
// reported with each restart.
func crashed(container string, terminated *corev1.ContainerStateTerminated) *finding {
	return &finding{
		v1alpha.ReasonInstanceCrashing,
		withDetail(fmt.Sprintf("container %s ends with exit code %d (%s)", container, terminated.ExitCode, terminated.Reason), terminated.Message),
	}
}

// pullError is why an image cannot be pulled. A kubelet alternates between two messages for it, which are the same here.
func pullError(waiting *corev1.ContainerStateWaiting) string {
	if strings.HasPrefix(waiting.Message, "Back-off pulling image") {
		_, detail, _ := strings.Cut(waiting.Message, "ErrImagePull: ")
		return detail
	}
	return waiting.Message
}

func withDetail(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}

// finished says whether a Pod has ended for good.
func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func podCondition(pod *corev1.Pod, conditionType corev1.PodConditionType) corev1.PodCondition {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == conditionType {
			return condition
		}
	}
	return corev1.PodCondition{}
}
