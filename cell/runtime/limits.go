// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// limitToSize limits a Pod to the size of its Instance, in each resource that the instance type or the Instance names:
// the Pod can use exactly the counted amount. Containers without resources of their own share the rest: each may take
// all of it, and the limit of the Pod bounds them together, in clusters that support such limits.
func limitToSize(pod *corev1.PodSpec, spec *v1alpha.InstanceSpec) {
	size := templates.InstanceSize(spec, typeResources(spec))
	together := corev1.ResourceList{}
	running := runningContainers(pod, spec.Runtime.Sandbox)
	for name, total := range size {
		_, ofType := typeResources(spec)[name]
		_, ofInstance := spec.Runtime.Resources.Requests[name]
		if !ofType && !ofInstance || !overcommittable(name) || total.Sign() <= 0 {
			continue
		}
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			together[name] = total.DeepCopy()
		}
		limitRunning(running, name, total)
		limitInit(pod.InitContainers, spec.Runtime.Sandbox, name, total)
	}
	if len(running) > 1 && len(together) > 0 {
		pod.Resources = &corev1.ResourceRequirements{Limits: together}
	}
}

// limitRunning limits the containers and sidecars without a limit for a resource to their own requests plus the
// unassigned rest.
func limitRunning(containers []sizedContainer, name corev1.ResourceName, total resource.Quantity) {
	remaining := total.DeepCopy()
	for _, container := range containers {
		remaining.Sub(templates.ContainerSize(container.spec)[name])
	}
	for _, container := range containers {
		limit := container.ownRequest(name)[name].DeepCopy()
		limit.Add(remaining)
		limitTo(container.Container, name, limit)
	}
}

// limitInit limits the other init containers without a limit for a resource to the rest that the sidecars before them
// leave.
func limitInit(containers []corev1.Container, sandbox *v1alpha.SandboxRuntime, name corev1.ResourceName, total resource.Quantity) {
	remaining := total.DeepCopy()
	for i := range containers {
		container := &sandbox.InitContainers[i]
		if container.IsSidecar() {
			remaining.Sub(templates.ContainerSize(container)[name])
			continue
		}
		limitTo(&containers[i], name, remaining.DeepCopy())
	}
}

// limitTo limits a container that has no limit of a resource.
func limitTo(container *corev1.Container, name corev1.ResourceName, limit resource.Quantity) {
	resources := &container.Resources
	if _, limited := resources.Limits[name]; limited || limit.Sign() <= 0 {
		return
	}
	resources.Limits = orEmpty(resources.Limits)
	resources.Limits[name] = limit
	if _, requested := resources.Requests[name]; !requested {
		// Otherwise Kubernetes would make the limit the request.
		resources.Requests = orEmpty(resources.Requests)
		resources.Requests[name] = resource.Quantity{}
	}
}
