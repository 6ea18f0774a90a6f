// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// TrimPod is a cache transform that keeps the parts of a Pod that the controllers read. A whole Pod would hold the
// template of its Instance in memory a second time, and what the admission of the cell has added.
func TrimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.Spec = corev1.PodSpec{
		NodeName: pod.Spec.NodeName, ReadinessGates: pod.Spec.ReadinessGates,
		InitContainers: trimContainers(pod.Spec.InitContainers), Containers: trimContainers(pod.Spec.Containers),
	}
	return stripPod(pod)
}

var stripPod = watch.StripAnnotations(v1alpha.AnnotationStartedWith, v1alpha.AnnotationRestartedWith, v1alpha.AnnotationReadySeen)

// trimContainers keeps what the state of a container is explained by.
func trimContainers(containers []corev1.Container) []corev1.Container {
	var trimmed []corev1.Container
	for i := range containers {
		container := &containers[i]
		trimmed = append(trimmed, corev1.Container{
			Name: container.Name, Image: container.Image, RestartPolicy: container.RestartPolicy,
			Resources:    corev1.ResourceRequirements{Limits: container.Resources.Limits},
			StartupProbe: trimProbe(container.StartupProbe), ReadinessProbe: trimProbe(container.ReadinessProbe),
		})
	}
	return trimmed
}

// trimProbe keeps the times of a probe.
func trimProbe(probe *corev1.Probe) *corev1.Probe {
	if probe == nil {
		return nil
	}
	trimmed := *probe
	trimmed.ProbeHandler = corev1.ProbeHandler{}
	return &trimmed
}
