// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// finding is why an Instance is not Ready.
type finding struct{ reason, message string }

// crashLoop is a kubelet's reason for a container that ends again and again.
const crashLoop = "CrashLoopBackOff"

// waitingReasons map a kubelet's reasons why a container does not start to the reasons of Ready on an Instance.
var waitingReasons = map[string]string{
	"ErrImagePull":               v1alpha.ReasonImageUnavailable,
	"ImagePullBackOff":           v1alpha.ReasonImageUnavailable,
	"InvalidImageName":           v1alpha.ReasonImageUnavailable,
	"ErrImageNeverPull":          v1alpha.ReasonImageUnavailable,
	"ImageInspectError":          v1alpha.ReasonImageUnavailable,
	"RegistryUnavailable":        v1alpha.ReasonImageUnavailable,
	"SignatureValidationFailed":  v1alpha.ReasonImageUnavailable,
	crashLoop:                    v1alpha.ReasonInstanceCrashing,
	"RunContainerError":          v1alpha.ReasonInstanceCrashing,
	"CreateContainerConfigError": v1alpha.ReasonConfigurationError,
	"CreateContainerError":       v1alpha.ReasonConfigurationError,
}

// lostAfter is how long a node may take to confirm that a Pod has stopped, after the Pod's grace period.
const lostAfter = time.Minute

// examine returns why the Instance of a Pod is not Ready; nil when it is. The first reason counts.
func examine(pod *corev1.Pod, now time.Time) *finding {
	ends := cmp.Or(examineNode(pod, now), examineEnd(pod))
	if ends != nil || podCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue {
		return ends
	}
	return cmp.Or(examineInit(pod), examineContainers(pod), examineProbes(pod).finding(now), examineStart(pod))
}

// examineEnd returns why a Pod ends or has ended; nil when it does not.
func examineEnd(pod *corev1.Pod) *finding {
	switch {
	case !pod.DeletionTimestamp.IsZero():
		return &finding{v1alpha.ReasonProvisioning, withDetail("the Pod is being stopped", disruption(pod))}
	case finished(pod):
		return ended(pod)
	}
	return nil
}

// examineStart returns how far a Pod is that has no failure.
func examineStart(pod *corev1.Pod) *finding {
	switch {
	case podCondition(pod, corev1.PodScheduled).Status == corev1.ConditionFalse:
		return &finding{v1alpha.ReasonUnschedulable, unscheduled(pod)}
	case pod.Spec.NodeName == "":
		return &finding{v1alpha.ReasonProvisioning, "the Pod has no node yet"}
	}
	return &finding{v1alpha.ReasonProvisioning, withDetail("the Pod is not ready", podCondition(pod, corev1.PodReady).Message)}
}

// unscheduled returns why a Pod has no node, in the words of the scheduler.
func unscheduled(pod *corev1.Pod) string {
	scheduled := podCondition(pod, corev1.PodScheduled)
	if scheduled.Status != corev1.ConditionFalse {
		return "the Pod has no node yet"
	}
	return withDetail("no node for the Pod", scheduled.Message)
}

// examineNode returns a finding if the node of a Pod is lost. The agent does not read the status of Nodes, but a Pod
// shows failures of its node: the node does not confirm that the Pod has stopped; or Kubernetes' node controller has
// set a Pod to not Ready whose containers were all ready when the node reported last.
func examineNode(pod *corev1.Pod, now time.Time) *finding {
	stopping := !pod.DeletionTimestamp.IsZero()
	switch {
	case pod.Spec.NodeName == "":
	case stopping && now.Sub(pod.DeletionTimestamp.Time) >= lostAfter && len(pod.Finalizers) == 0:
		return &finding{v1alpha.ReasonNodeLost, fmt.Sprintf("node %s does not confirm that the Pod has stopped, which was due at %s",
			pod.Spec.NodeName, pod.DeletionTimestamp.UTC().Format(time.RFC3339))}
	case unheard(pod):
		return &finding{v1alpha.ReasonNodeLost, fmt.Sprintf("node %s does not report the state of the Pod", pod.Spec.NodeName)}
	}
	return nil
}

// evicted is the reason of a Pod that its node has evicted.
const evicted = "Evicted"

// ended returns the reason why a Pod has ended permanently. A kubelet drops its reason for an eviction when the
// containers end with exit code 0.
func ended(pod *corev1.Pod) *finding {
	reason := v1alpha.ReasonProvisioning
	if pod.Status.Reason == evicted {
		reason = v1alpha.ReasonEvicted
	}
	detail := withDetail(pod.Status.Reason, pod.Status.Message)
	if pod.Status.Message == "" {
		detail = withDetail(detail, disruption(pod))
	}
	if detail == "" {
		detail = exits(pod)
	}
	return &finding{reason, "the Pod has ended and is being replaced" + prefixed(": ", strings.TrimPrefix(detail, ": "))}
}

// disruption returns why a Pod is evicted, preempted or deleted with its node; "" if it is not.
func disruption(pod *corev1.Pod) string {
	if condition := podCondition(pod, corev1.DisruptionTarget); condition.Status == corev1.ConditionTrue {
		return withDetail(condition.Reason, condition.Message)
	}
	return ""
}

// exits lists how the containers of a Pod ended.
func exits(pod *corev1.Pod) string {
	var texts []string
	for i := range pod.Status.ContainerStatuses {
		container := &pod.Status.ContainerStatuses[i]
		if terminated := container.State.Terminated; terminated != nil {
			texts = append(texts, exited(container.Name, terminated))
		}
	}
	return strings.Join(texts, "; ")
}

func exited(container string, terminated *corev1.ContainerStateTerminated) string {
	return withDetail(fmt.Sprintf("container %s ends with exit code %d (%s)", container, terminated.ExitCode,
		terminated.Reason), terminated.Message)
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func examineContainers(pod *corev1.Pod) *finding {
	for i := range pod.Status.ContainerStatuses {
		if trouble := examineContainer(pod, &pod.Status.ContainerStatuses[i]); trouble != nil {
			return trouble
		}
	}
	return nil
}

// examineContainer returns why a container does not run; nil if it runs or is about to.
func examineContainer(pod *corev1.Pod, container *corev1.ContainerStatus) *finding {
	waiting, terminated := container.State.Waiting, container.State.Terminated
	if waiting != nil && waiting.Reason == crashLoop {
		terminated = container.LastTerminationState.Terminated
	}
	switch {
	case terminated != nil:
		return crashed(pod, container.Name, terminated)
	case waiting == nil || waitingReasons[waiting.Reason] == "":
		return nil
	}

	reason, message := waitingReasons[waiting.Reason], withDetail("container "+container.Name, waiting.Message)
	if reason == v1alpha.ReasonImageUnavailable {
		message = withDetail(fmt.Sprintf("container %s: image %s cannot be pulled", container.Name, container.Image), pullError(waiting))
	}
	return &finding{reason, message}
}

// crashed omits the number of restarts, which the status contains.
func crashed(pod *corev1.Pod, container string, terminated *corev1.ContainerStateTerminated) *finding {
	if terminated.Reason != oomKilled {
		return &finding{v1alpha.ReasonInstanceCrashing, exited(container, terminated)}
	}
	limit := "the limit of its Pod"
	for _, declared := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if memory := declared.Resources.Limits.Memory(); declared.Name == container && !memory.IsZero() {
			limit = "its limit of " + memory.String()
		}
	}
	return &finding{v1alpha.ReasonOOMKilled, fmt.Sprintf("container %s used more memory than %s and was killed", container, limit)}
}

// oomKilled is a kubelet's reason for a container that was killed because of its memory.
const oomKilled = "OOMKilled"

// pullError is why an image cannot be pulled. A kubelet alternates between two messages for it, which are the same
// here.
func pullError(waiting *corev1.ContainerStateWaiting) string {
	if strings.HasPrefix(waiting.Message, "Back-off pulling image") {
		_, detail, _ := strings.Cut(waiting.Message, "ErrImagePull: ")
		return detail
	}
	return waiting.Message
}

func withDetail(message, detail string) string { return message + prefixed(": ", detail) }

// finished reports whether a Pod has ended permanently.
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
