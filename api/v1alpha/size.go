// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// InstanceSize is what one Instance takes of each resource. Karmada reserves it, quota counts it, and the containers of the Pod
// together request it (ContainerSizes). typeResources are those of the instance type as they were recorded in the deployment
// (WorkloadDeploymentSpec.InstanceTypeResources), not those that the type has now.
//
// A container takes its limit of a resource, else its request. Where every container has either, the size is their sum. Where
// some have neither, the size is the request of the Instance, else that of its instance type, but at least the sum of the
// others. A resource that none of them names is not in the size. The caller may change it.
func InstanceSize(spec *InstanceSpec, typeResources corev1.ResourceList) corev1.ResourceList {
	size := corev1.ResourceList{}
	maps.Copy(size, typeResources.DeepCopy())
	maps.Copy(size, spec.Runtime.Resources.Requests.DeepCopy())
	containers := sandboxContainers(spec)
	for name, total := range sumContainers(containers) {
		if named, ok := size[name]; !ok || total.containers == len(containers) || named.Cmp(total.sum) < 0 {
			size[name] = total.sum
		}
	}
	return size
}

// ContainerSizes are what each container of a sandbox takes, in the order of the containers. They add up to InstanceSize: the
// first container that does not name a resource takes what the others leave of it. The caller may change them.
func ContainerSizes(spec *InstanceSpec, typeResources corev1.ResourceList) []corev1.ResourceList {
	containers := sandboxContainers(spec)
	sizes := make([]corev1.ResourceList, len(containers))
	rest := InstanceSize(spec, typeResources)
	for i := range containers {
		sizes[i] = containerSize(&containers[i])
		for name, quantity := range sizes[i] {
			left := rest[name]
			left.Sub(quantity)
			rest[name] = left
		}
	}
	for name, quantity := range rest {
		silent := slices.IndexFunc(sizes, func(size corev1.ResourceList) bool {
			_, named := size[name]
			return !named
		})
		if quantity.Sign() > 0 && silent >= 0 {
			sizes[silent][name] = quantity
		}
	}
	return sizes
}

func sandboxContainers(spec *InstanceSpec) []SandboxContainer {
	if spec.Runtime.Sandbox == nil {
		return nil
	}
	return spec.Runtime.Sandbox.Containers
}

// containerSum is what containers take of a resource, and how many of them name it.
type containerSum struct {
	sum        resource.Quantity
	containers int
}

func sumContainers(containers []SandboxContainer) map[corev1.ResourceName]containerSum {
	sums := map[corev1.ResourceName]containerSum{}
	for i := range containers {
		for name, quantity := range containerSize(&containers[i]) {
			soFar := sums[name]
			soFar.sum.Add(quantity)
			soFar.containers++
			sums[name] = soFar
		}
	}
	return sums
}

// containerSize is the limit of a container of each resource, else its request.
func containerSize(container *SandboxContainer) corev1.ResourceList {
	size := corev1.ResourceList{}
	if container.Resources != nil {
		maps.Copy(size, container.Resources.Requests.DeepCopy())
		maps.Copy(size, container.Resources.Limits.DeepCopy())
	}
	return size
}
