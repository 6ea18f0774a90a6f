// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// bounded are the resources of which every container has a limit and a positive request. Without a limit a container
// could take all of its node; a Pod without requests is evicted first, and is scheduled as if it used nothing.
var bounded = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// defaultLimits bound a container whose Instance has no recorded type and no size: the hub serves no InstanceTypes, or
// has not recorded one yet.
func defaultLimits() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")}
}

// leastRequests are the requests of a container that would request nothing.
func leastRequests() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("1Mi")}
}

// dropZeroLimits drops limits of zero, which Kubernetes takes for no limit.
func dropZeroLimits(limits corev1.ResourceList) {
	maps.DeleteFunc(limits, func(_ corev1.ResourceName, limit resource.Quantity) bool { return limit.Sign() <= 0 })
}

// boundContainers sets a limit and a request for the containers of a Pod without them: containers to which the others
// leave nothing. It runs after limitToSize.
func boundContainers(pod *corev1.PodSpec, spec *v1alpha.InstanceSpec) {
	running := runningContainers(pod, spec.Runtime.Sandbox)
	for _, name := range bounded {
		bound := mostOf(name, spec)
		for _, container := range podContainers(pod) {
			resources := &container.Resources
			resources.Limits, resources.Requests = orEmpty(resources.Limits), orEmpty(resources.Requests)
			if limit := resources.Limits[name]; limit.Sign() > 0 {
				continue
			}
			limit := bound.DeepCopy()
			if request := resources.Requests[name]; request.Cmp(limit) > 0 {
				limit = request.DeepCopy()
			}
			resources.Limits[name] = limit
		}
		for _, container := range podContainers(pod) {
			requestLeast(container, running, name)
		}
		raiseTogether(pod, running, name)
	}
}

// podContainers are all containers of a Pod: the init containers last.
func podContainers(pod *corev1.PodSpec) []*corev1.Container {
	all := make([]*corev1.Container, 0, len(pod.Containers)+len(pod.InitContainers))
	for i := range pod.Containers {
		all = append(all, &pod.Containers[i])
	}
	for i := range pod.InitContainers {
		all = append(all, &pod.InitContainers[i])
	}
	return all
}

// raiseTogether raises the limit of a Pod to the requests of its containers. The limit is below them if the size is too
// small to be shared: Kubernetes refuses such a Pod.
func raiseTogether(pod *corev1.PodSpec, running []sizedContainer, name corev1.ResourceName) {
	if pod.Resources == nil {
		return
	}
	var sum, sidecars resource.Quantity
	for _, container := range running {
		sum.Add(container.Resources.Requests[name].DeepCopy())
	}
	for i := range pod.InitContainers {
		together := pod.InitContainers[i].Resources.Requests[name].DeepCopy()
		together.Add(sidecars.DeepCopy())
		if pod.InitContainers[i].RestartPolicy != nil {
			sidecars = together
		}
		if sum.Cmp(together) < 0 {
			sum = together
		}
	}
	if limit, limited := pod.Resources.Limits[name]; limited && limit.Cmp(sum) < 0 {
		pod.Resources.Limits[name] = sum
	}
}

// mostOf is the amount of a resource that a container may take if the others leave it nothing: as much as the Instance.
func mostOf(name corev1.ResourceName, spec *v1alpha.InstanceSpec) resource.Quantity {
	ofType, typed := typeResources(spec)[name]
	_, requested := spec.Runtime.Resources.Requests[name]
	size := templates.InstanceSize(spec, typeResources(spec))[name]
	switch {
	case (typed || requested) && size.Sign() > 0:
		return size
	case ofType.Sign() > 0:
		return ofType
	default:
		return defaultLimits()[name]
	}
}

// requestLeast gives a container without a request for a resource the least request. A container that runs beside
// others takes it from the one with the largest request: together they request the amount that Karmada reserves. A Pod
// whose containers have too little to share requests more than that, by the least requests.
func requestLeast(container *corev1.Container, running []sizedContainer, name corev1.ResourceName) {
	resources := &container.Resources
	if request := resources.Requests[name]; request.Sign() > 0 {
		return
	}
	least := leastRequests()[name]
	if limit := resources.Limits[name]; limit.Cmp(least) < 0 {
		least = limit.DeepCopy()
	}
	resources.Requests[name] = least
	largest, beside := container, false
	for _, other := range running {
		beside = beside || other.Container == container
		if quantity, bound := other.Resources.Requests[name], largest.Resources.Requests[name]; quantity.Cmp(bound) > 0 {
			largest = other.Container
		}
	}
	left := largest.Resources.Requests[name].DeepCopy()
	left.Sub(least)
	if beside && largest != container && left.Sign() > 0 {
		largest.Resources.Requests[name] = left
	}
}
