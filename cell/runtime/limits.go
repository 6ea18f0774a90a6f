// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// limitToSize limits a Pod to the size of its Instance, in each resource that the instance type or the Instance names: what is
// counted is what can be used. Containers that say nothing share what the others leave: each may take all of it, and the limit of
// the Pod bounds them together, in clusters that know such limits.
func limitToSize(pod *corev1.PodSpec, spec *v1alpha.InstanceSpec) {
	size := v1alpha.InstanceSize(spec, typeResources(spec))
	together := corev1.ResourceList{}
	for name, total := range size {
		_, ofType := typeResources(spec)[name]
		_, ofInstance := spec.Runtime.Resources.Requests[name]
		if !ofType && !ofInstance || !overcommittable(name) || total.Sign() <= 0 {
			continue
		}
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			together[name] = total.DeepCopy()
		}
		limitContainers(pod.Containers, spec, name)
	}
	if len(pod.Containers) > 1 && len(together) > 0 {
		pod.Resources = &corev1.ResourceRequirements{Limits: together}
	}
}

// limitContainers limits the containers that have no limit of a resource to what they request themselves and what no container
// has named.
func limitContainers(containers []corev1.Container, spec *v1alpha.InstanceSpec, name corev1.ResourceName) {
	rest := v1alpha.InstanceSize(spec, typeResources(spec))[name]
	own := make([]corev1.ResourceList, len(containers))
	for i := range containers {
		if wanted := spec.Runtime.Sandbox.Containers[i].Resources; wanted != nil {
			own[i] = wanted.Requests
			if limit, limited := wanted.Limits[name]; limited {
				rest.Sub(limit)
				continue
			}
			rest.Sub(wanted.Requests[name])
		}
	}
	for i := range containers {
		if _, limited := containers[i].Resources.Limits[name]; limited {
			continue
		}
		limit := own[i][name].DeepCopy()
		limit.Add(rest)
		if limit.Sign() <= 0 {
			continue
		}
		resources := &containers[i].Resources
		resources.Limits = orEmpty(resources.Limits)
		resources.Limits[name] = limit
		if _, requested := resources.Requests[name]; !requested {
			// Otherwise Kubernetes would make the limit the request.
			resources.Requests = orEmpty(resources.Requests)
			resources.Requests[name] = resource.Quantity{}
		}
	}
}
