// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// instanceTypes are the sizes of the instance types that a cell knows.
var instanceTypes = map[string]corev1.ResourceList{
	"datumcloud/d1-standard-2": {
		corev1.ResourceCPU:    resource.MustParse("1"),
		corev1.ResourceMemory: resource.MustParse("2Gi"),
	},
}

// unsupported says what of an Instance this cell cannot run, or nothing when it can run all of it.
func unsupported(spec *v1alpha.InstanceSpec) string {
	if spec.Runtime.Sandbox == nil {
		return "this cell runs sandboxes only; use spec.runtime.sandbox in the template"
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].Disk != nil {
			return fmt.Sprintf("volume %s is a disk, and a sandbox of this cell attaches configMap and secret volumes only", spec.Volumes[i].Name)
		}
	}
	return ""
}

// desiredPod is the Pod of a sandbox Instance. It is made once and never changed.
func desiredPod(instance *v1alpha.Instance) *corev1.Pod {
	labels := maps.Clone(instance.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if labels[v1alpha.LabelDeploymentName] == "" {
		// The cache holds only Pods with this label.
		labels[v1alpha.LabelDeploymentName] = instance.Name
	}
	sandbox := instance.Spec.Runtime.Sandbox
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      instance.Name,
			Namespace: instance.Namespace,
			Labels:    labels,
			// It blocks the end of its Instance: the name of an Instance is free only when its Pod is gone.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(instance, v1alpha.GroupVersion.WithKind("Instance"))},
		},
		Spec: corev1.PodSpec{
			Containers:                   desiredContainers(sandbox.Containers),
			Volumes:                      desiredVolumes(instance.Spec.Volumes),
			RestartPolicy:                corev1.RestartPolicyAlways,
			AutomountServiceAccountToken: new(false),
			EnableServiceLinks:           new(false),
		},
	}
	for _, secret := range sandbox.ImagePullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	requestSize(pod.Spec.Containers, &instance.Spec.Runtime.Resources)
	return pod
}

func desiredContainers(containers []v1alpha.SandboxContainer) []corev1.Container {
	result := make([]corev1.Container, 0, len(containers))
	for i := range containers {
		wanted := containers[i].DeepCopy()
		container := corev1.Container{
			Name:    wanted.Name,
			Image:   wanted.Image,
			Command: wanted.Command,
			Args:    wanted.Args,
			Env:     wanted.Env,
		}
		if wanted.Resources != nil {
			container.Resources = corev1.ResourceRequirements{Limits: wanted.Resources.Limits, Requests: wanted.Resources.Requests}
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

func desiredPort(port v1alpha.NamedPort) corev1.ContainerPort {
	result := corev1.ContainerPort{ContainerPort: port.Port, Protocol: ptr.Deref(port.Protocol, corev1.ProtocolTCP)}
	// A template may use longer names than a Pod takes. Nothing in the cell looks ports up by name.
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

// requestSize lets the first container request the size of the Instance: what its requests say, else its type where
// that is known. A resource that any container already requests or limits is left as it is.
func requestSize(containers []corev1.Container, size *v1alpha.InstanceRuntimeResources) {
	wanted := size.Requests
	if len(wanted) == 0 {
		wanted = instanceTypes[size.InstanceType]
	}
	missing := wanted.DeepCopy()
	for i := range containers {
		for _, set := range []corev1.ResourceList{containers[i].Resources.Requests, containers[i].Resources.Limits} {
			for name := range set {
				delete(missing, name)
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	first := &containers[0].Resources
	if first.Requests == nil {
		first.Requests = corev1.ResourceList{}
	}
	maps.Copy(first.Requests, missing)
}
