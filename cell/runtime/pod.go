// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// desiredPod is the Pod of a sandbox Instance. Once created only those of its labels that preparePod adds are ever changed.
func desiredPod(instance *v1alpha.Instance, settings *Settings) *corev1.Pod {
	labels := maps.Clone(instance.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if labels[v1alpha.LabelDeploymentName] == "" {
		// The cache selects Pods by this label.
		labels[v1alpha.LabelDeploymentName] = instance.Name
	}
	sandbox := instance.Spec.Runtime.Sandbox
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            instance.Name,
			Namespace:       instance.Namespace,
			Labels:          labels,
			OwnerReferences: []metav1.OwnerReference{instance.ControllerReference()},
		},
		Spec: corev1.PodSpec{
			Containers:                   desiredContainers(&instance.Spec),
			Volumes:                      desiredVolumes(instance.Spec.Volumes),
			RestartPolicy:                corev1.RestartPolicyAlways,
			AutomountServiceAccountToken: new(false),
			EnableServiceLinks:           new(false),
		},
	}
	for _, secret := range sandbox.ImagePullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	pod.Spec.RuntimeClassName, _ = settings.runtimeClass(&instance.Spec)
	limitToSize(&pod.Spec, &instance.Spec)
	boundContainers(&pod.Spec, &instance.Spec)
	settings.secure(&pod.Spec)
	pod.Spec.Tolerations = settings.nodeLossTolerations(&instance.Spec)
	pod.Spec.TopologySpreadConstraints = spreadConstraints(labels[v1alpha.LabelDeploymentName])
	return pod
}

func desiredContainers(spec *v1alpha.InstanceSpec) []corev1.Container {
	sizes := v1alpha.ContainerSizes(spec, typeResources(spec))
	result := make([]corev1.Container, 0, len(sizes))
	for i, size := range sizes {
		wanted := spec.Runtime.Sandbox.Containers[i].DeepCopy()
		container := corev1.Container{
			Name:      wanted.Name,
			Image:     wanted.Image,
			Command:   wanted.Command,
			Args:      wanted.Args,
			Env:       wanted.Env,
			EnvFrom:   wanted.EnvFrom,
			Resources: desiredResources(wanted.Resources, size),
		}
		for _, port := range wanted.Ports {
			container.Ports = append(container.Ports, desiredPort(port))
		}
		for _, attachment := range wanted.VolumeAttachments {
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
				Name: attachment.Name, MountPath: ptr.Deref(attachment.MountPath, ""),
			})
		}
		result = append(result, container)
	}
	return result
}

// typeResources are those of the instance type that were recorded in the Instance.
func typeResources(spec *v1alpha.InstanceSpec) corev1.ResourceList {
	if spec.Controller == nil {
		return nil
	}
	return spec.Controller.InstanceTypeResources
}

func desiredPort(port v1alpha.NamedPort) corev1.ContainerPort {
	result := corev1.ContainerPort{ContainerPort: port.Port, Protocol: ptr.Deref(port.Protocol, corev1.ProtocolTCP)}
	// A template allows longer names than a Pod does. Nothing in the cell refers to a port by its name.
	if len(validation.IsValidPortName(port.Name)) == 0 {
		result.Name = port.Name
	}
	return result
}

func desiredVolumes(volumes []v1alpha.InstanceVolume) []corev1.Volume {
	var result []corev1.Volume
	for i := range volumes {
		volume := volumes[i].DeepCopy()
		result = append(result, corev1.Volume{
			Name:         volume.Name,
			VolumeSource: corev1.VolumeSource{ConfigMap: volume.ConfigMap, Secret: volume.Secret},
		})
	}
	return result
}

// desiredResources are the resources of a container that takes size. wanted may be nil; its requests are part of size.
func desiredResources(wanted *v1alpha.ContainerResourceRequirements, size corev1.ResourceList) corev1.ResourceRequirements {
	resources := corev1.ResourceRequirements{Requests: size}
	if wanted != nil {
		resources.Limits = wanted.Limits.DeepCopy()
		dropZeroLimits(resources.Limits)
	}
	for name, quantity := range size {
		if overcommittable(name) {
			continue
		}
		// Kubernetes refuses a request for such a resource without an equal limit.
		if resources.Limits == nil {
			resources.Limits = corev1.ResourceList{}
		}
		resources.Limits[name] = quantity.DeepCopy()
	}
	return resources
}

// overcommittable says whether the request of a container for a resource may differ from its limit. Kubernetes allows it for
// resources of its own except huge pages.
func overcommittable(name corev1.ResourceName) bool {
	own := !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
	return own && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
