// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func desiredContainers(spec *v1alpha.InstanceSpec) []corev1.Container {
	sizes := templates.ContainersSize(spec, typeResources(spec))
	result := make([]corev1.Container, 0, len(sizes))
	for i, size := range sizes {
		result = append(result, desiredContainer(&spec.Runtime.Sandbox.Containers[i], size))
	}
	return result
}

func desiredInitContainers(sandbox *v1alpha.SandboxRuntime) []corev1.Container {
	var result []corev1.Container
	for i := range sandbox.InitContainers {
		wanted := &sandbox.InitContainers[i]
		container := desiredContainer(wanted, templates.ContainerSize(wanted))
		container.RestartPolicy = clonePointer(wanted.RestartPolicy)
		result = append(result, container)
	}
	return result
}

// desiredContainer is a container that takes size.
func desiredContainer(sandboxContainer *v1alpha.SandboxContainer, size corev1.ResourceList) corev1.Container {
	wanted := sandboxContainer.DeepCopy()
	container := corev1.Container{
		Name:           wanted.Name,
		Image:          wanted.Image,
		Command:        wanted.Command,
		Args:           wanted.Args,
		WorkingDir:     wanted.WorkingDir,
		Env:            wanted.Env,
		EnvFrom:        wanted.EnvFrom,
		ReadinessProbe: wanted.ReadinessProbe,
		LivenessProbe:  wanted.LivenessProbe,
		StartupProbe:   wanted.StartupProbe,
		Lifecycle:      wanted.Lifecycle,
		Resources:      desiredResources(wanted.Resources, size),
	}
	for _, port := range wanted.Ports {
		container.Ports = append(container.Ports, desiredPort(port))
	}
	for _, attachment := range wanted.VolumeAttachments {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
			Name: attachment.Name, MountPath: ptr.Deref(attachment.MountPath, ""), ReadOnly: attachment.ReadOnly, SubPath: attachment.SubPath,
		})
	}
	return container
}

func desiredPort(port v1alpha.NamedPort) corev1.ContainerPort {
	result := corev1.ContainerPort{ContainerPort: port.Port, Protocol: ptr.Deref(port.Protocol, corev1.ProtocolTCP)}
	// A template allows longer names than a Pod does. Nothing in the cell refers to such a port by its name.
	if len(validation.IsValidPortName(port.Name)) == 0 {
		result.Name = port.Name
	}
	return result
}

// desiredVolumes are the volumes of a Pod. An emptyDir without a size, or with size zero, which does not count for Kubernetes,
// may take as much of the disk as a container.
func (s *Settings) desiredVolumes(volumes []v1alpha.InstanceVolume) []corev1.Volume {
	var result []corev1.Volume
	for i := range volumes {
		volume := volumes[i].DeepCopy()
		if empty := volume.EmptyDir; empty != nil {
			s.boundEmptyDir(empty)
		}
		result = append(result, corev1.Volume{
			Name:         volume.Name,
			VolumeSource: corev1.VolumeSource{ConfigMap: volume.ConfigMap, Secret: volume.Secret, EmptyDir: volume.EmptyDir},
		})
	}
	return result
}

func (s *Settings) boundEmptyDir(source *corev1.EmptyDirVolumeSource) {
	if source.SizeLimit != nil && source.SizeLimit.Sign() <= 0 {
		source.SizeLimit = nil
	}
	if source.SizeLimit == nil && source.Medium == corev1.StorageMediumDefault && !s.EphemeralStorage.IsZero() {
		source.SizeLimit = new(s.EphemeralStorage.DeepCopy())
	}
}

// runningContainers are the containers of a Pod and its sidecars, each with its container in the template.
func runningContainers(pod *corev1.PodSpec, sandbox *v1alpha.SandboxRuntime) []sizedContainer {
	var result []sizedContainer
	for i := range pod.Containers {
		result = append(result, sizedContainer{&pod.Containers[i], &sandbox.Containers[i]})
	}
	for i := range pod.InitContainers {
		if container := &sandbox.InitContainers[i]; container.IsSidecar() {
			result = append(result, sizedContainer{&pod.InitContainers[i], container})
		}
	}
	return result
}

// sizedContainer is a container of a Pod, with the container of the template from which it was created.
type sizedContainer struct {
	*corev1.Container
	spec *v1alpha.SandboxContainer
}

// ownRequest is the template's request of a resource for the container.
func (c sizedContainer) ownRequest(name corev1.ResourceName) corev1.ResourceList {
	if c.spec.Resources == nil {
		return nil
	}
	if request, requested := c.spec.Resources.Requests[name]; requested {
		return corev1.ResourceList{name: request.DeepCopy()}
	}
	return nil
}

func clonePointer[T any](item *T) *T {
	if item == nil {
		return nil
	}
	return new(*item)
}
