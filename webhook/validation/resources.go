// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/sizing"
)

func (p *problems) containerResources(at place, resources *v1alpha.ContainerResourceRequirements) {
	if resources == nil {
		return
	}
	p.quantities(at.child("limits"), resources.Limits)
	p.quantities(at.child("requests"), resources.Requests)
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		request := resources.Requests[name].DeepCopy()
		limit, limited := resources.Limits[name]
		if limit = limit.DeepCopy(); limited && countable(request) && countable(limit) && request.Cmp(limit) > 0 {
			p.invalid(at.child("requests").entry(string(name)), request.String(), "must be at most the limit "+limit.String())
		}
	}
}

// limitsSum requires the limits of the containers, as Kubernetes adds them up, to equal the size of the Instance, for each resource for
// which the Instance has a size and every container a limit.
func (p *problems) limitsSum(at place, requests corev1.ResourceList, sandbox *v1alpha.SandboxRuntime) {
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if !limited(name, sandbox) {
			continue
		}
		sum, ok := taken(name, sandbox)
		if size := requests[name].DeepCopy(); ok && countable(size) && sum.Cmp(size) != 0 {
			p.invalid(at.entry(string(name)), size.String(), "must be the sum of the containers' limits, "+sum.String())
		}
	}
}

// limited reports whether all containers have a limit of a resource.
func limited(name corev1.ResourceName, sandbox *v1alpha.SandboxRuntime) bool {
	for i := range sandbox.Containers {
		if sandbox.Containers[i].Resources == nil {
			return false
		}
		if _, ok := sandbox.Containers[i].Resources.Limits[name]; !ok {
			return false
		}
	}
	return len(sandbox.Containers) > 0
}

// taken is the amount of a resource that the containers which name it take, as Kubernetes adds it up. ok is false if that cannot be
// computed.
func taken(name corev1.ResourceName, sandbox *v1alpha.SandboxRuntime) (sum resource.Quantity, ok bool) {
	only := &v1alpha.SandboxRuntime{
		Containers: slices.Clone(sandbox.Containers), InitContainers: slices.Clone(sandbox.InitContainers),
	}
	for _, container := range only.AllContainers() {
		if container.Resources == nil {
			continue
		}
		resources := &v1alpha.ContainerResourceRequirements{}
		for of, list := range map[*corev1.ResourceList]corev1.ResourceList{
			&resources.Limits: container.Resources.Limits, &resources.Requests: container.Resources.Requests,
		} {
			if quantity, named := list[name]; named {
				if !countable(quantity) {
					return sum, false
				}
				*of = corev1.ResourceList{name: quantity}
			}
		}
		container.Resources = resources
	}
	spec := &v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: only}}
	return sizing.Instance(spec, nil)[name], true
}
