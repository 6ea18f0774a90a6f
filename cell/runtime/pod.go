// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// desiredPod is the Pod of a sandbox Instance. After the creation, only the labels that preparePod adds are changed.
func desiredPod(instance *v1alpha.Instance, settings *Settings) *corev1.Pod {
	labels := settings.podLabels(instance.Labels)
	if labels[v1alpha.LabelDeploymentName] == "" {
		// The cache selects Pods by this label.
		labels[v1alpha.LabelDeploymentName] = instance.Name
	}
	// It is for an Instance that is Available.
	delete(labels, v1alpha.LabelProtected)
	sandbox := instance.Spec.Runtime.Sandbox
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            instance.Name,
			Namespace:       instance.Namespace,
			Labels:          labels,
			Annotations:     settings.podAnnotations(instance.Annotations),
			OwnerReferences: []metav1.OwnerReference{instance.ControllerReference()},
		},
		Spec: corev1.PodSpec{
			InitContainers:                desiredInitContainers(sandbox),
			Containers:                    desiredContainers(&instance.Spec),
			Volumes:                       settings.desiredVolumes(instance.Spec.Volumes),
			RestartPolicy:                 corev1.RestartPolicyAlways,
			TerminationGracePeriodSeconds: clonePointer(sandbox.TerminationGracePeriodSeconds),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
		},
	}
	pod.Spec.Hostname, pod.Spec.Subdomain = podNames(instance)
	for _, secret := range sandbox.ImagePullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	pod.Spec.RuntimeClassName, _ = settings.runtimeClass(&instance.Spec)
	limitToSize(&pod.Spec, &instance.Spec)
	boundContainers(&pod.Spec, &instance.Spec)
	settings.secure(&pod.Spec, sandbox)
	pod.Spec.Tolerations = settings.nodeLossTolerations(&instance.Spec)
	pod.Spec.TopologySpreadConstraints = spreadConstraints(labels[v1alpha.LabelDeploymentName])
	return pod
}

// podNames are the names of a Pod in DNS: a headless Service with the name of the Workload gives the Pod the name
// <hostname>.<subdomain>. They cannot be added to a Pod later, so that every Pod has them, with and without a Service.
func podNames(instance *v1alpha.Instance) (hostname, subdomain string) {
	hostname, subdomain = naming.Shorten(instance.Name), instance.Labels[v1alpha.LabelWorkloadName]
	if len(validation.IsDNS1123Label(hostname)) > 0 || len(validation.IsDNS1123Label(subdomain)) > 0 {
		return "", ""
	}
	return hostname, subdomain
}

// typeResources are the resources of the instance type as recorded in the Instance.
func typeResources(spec *v1alpha.InstanceSpec) corev1.ResourceList {
	if spec.Controller == nil {
		return nil
	}
	return spec.Controller.InstanceTypeResources
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

// overcommittable reports whether the request of a container for a resource may differ from its limit. Kubernetes
// allows it for resources of its own except huge pages.
func overcommittable(name corev1.ResourceName) bool {
	own := !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
	return own && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
