// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func (p *problems) containerResources(at place, resources *v1alpha.ContainerResourceRequirements) {
	if resources == nil {
		return
	}
	p.amountsOf(at.child("limits"), resources.Limits)
	p.amountsOf(at.child("requests"), resources.Requests)
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		request := resources.Requests[name].DeepCopy()
		limit, limited := resources.Limits[name]
		if limit = limit.DeepCopy(); limited && countable(request) && countable(limit) && request.Cmp(limit) > 0 {
			p.invalid(at.child("requests").entry(string(name)), request.String(), "must be at most the limit "+limit.String())
		}
	}
}

// limitsSum requires the limits of the containers, as Kubernetes adds them up, to equal the size of the Instance, for
// each resource for which the Instance has a size and every container a limit.
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
		if !templates.IsLimited(&sandbox.Containers[i], name) {
			return false
		}
	}
	return len(sandbox.Containers) > 0
}

// taken is the amount of a resource that the containers which name it take, as Kubernetes adds it up. ok is false if
// that cannot be computed.
func taken(name corev1.ResourceName, sandbox *v1alpha.SandboxRuntime) (sum resource.Quantity, ok bool) {
	only := &v1alpha.SandboxRuntime{
		Containers: slices.Clone(sandbox.Containers), InitContainers: slices.Clone(sandbox.InitContainers),
	}
	for _, container := range only.AllContainers() {
		if container.Resources == nil {
			continue
		}
		resources := &v1alpha.ContainerResourceRequirements{}
		for bounds, list := range map[*corev1.ResourceList]corev1.ResourceList{
			&resources.Limits: container.Resources.Limits, &resources.Requests: container.Resources.Requests,
		} {
			if quantity, named := list[name]; named {
				if !countable(quantity) {
					return sum, false
				}
				*bounds = corev1.ResourceList{name: quantity}
			}
		}
		container.Resources = resources
	}
	spec := &v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: only}}
	return templates.InstanceSize(spec, nil)[name], true
}

// countable reports whether a quantity can be compared and added in reasonable time. 1e1000000000 cannot: comparing it
// writes out all of its digits. Do no arithmetic with a quantity that is not countable.
func countable(quantity resource.Quantity) bool {
	const scale, bits = 40, 256
	decimal := quantity.DeepCopy()
	value := decimal.AsDec()
	return value.Scale() >= -scale && value.Scale() <= scale && value.UnscaledBig().BitLen() <= bits
}

// counted reports a quantity that is not countable, without its value, which may be as long as a Workload.
func (p *problems) counted(at place, quantity resource.Quantity) bool {
	if countable(quantity) {
		return true
	}
	decimal := quantity.DeepCopy()
	value := decimal.AsDec()
	p.hidden(at, fmt.Sprintf("%xe%d", value.UnscaledBig(), value.Scale()), "is out of any range", "")
	return false
}

// mostAmount is the most of a resource that a container or an Instance may ask for: 1Pi. The sum of all containers is a
// number of 64 bits then, in which Kubernetes and Karmada count.
const mostAmount = 1 << 50

// sizes requires the amounts of resources that an Instance asks for to be positive and at most mostAmount.
func (p *problems) sizes(at place, list corev1.ResourceList) {
	p.quantities(at, list)
	p.atMost(at, list)
}

// amountsOf requires the amounts of a container to be at most mostAmount. An amount of zero does not count, as in a Pod.
func (p *problems) amountsOf(at place, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		p.notNegative(at.entry(string(name)), list[name])
	}
	p.atMost(at, list)
}

func (p *problems) atMost(at place, list corev1.ResourceList) {
	limit := resource.NewQuantity(mostAmount, resource.BinarySI)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if amount := list[name].DeepCopy(); countable(amount) && amount.Cmp(*limit) > 0 {
			p.invalid(at.entry(string(name)), amount.String(), "must be at most "+limit.String()+fieldsPage)
		}
	}
}

func (p *problems) quantities(at place, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		item := at.entry(string(name))
		p.positive(item, list[name])
	}
}

func (p *problems) notNegative(at place, quantity resource.Quantity) {
	if p.counted(at, quantity) && quantity.Sign() < 0 {
		p.invalid(at, quantity.String(), "must not be negative")
	}
}

func (p *problems) positive(at place, quantity resource.Quantity) {
	if p.counted(at, quantity) && quantity.Sign() <= 0 {
		p.invalid(at, quantity.String(), "must be positive")
	}
}

// Metered returns a problem for every resource that a Workload asks for and that quota does not count, in a project
// whose Instances need quota. before is as in Workload.
func Metered(workload, before *v1alpha.Workload) field.ErrorList {
	found := unmetered(workload)
	if before == nil {
		return found.list
	}
	return found.without(unmetered(before))
}

func unmetered(workload *v1alpha.Workload) *problems {
	p := &problems{}
	runtime := &workload.Spec.Template.Spec.Runtime
	at := place{}.child("spec", "template", "spec", "runtime")
	p.uncounted(at.child("resources", "requests"), runtime.Resources.Requests)
	if runtime.Sandbox == nil {
		return p
	}
	p.uncountedIn(at.child("sandbox", "containers"), runtime.Sandbox.Containers)
	p.uncountedIn(at.child("sandbox", "initContainers"), runtime.Sandbox.InitContainers)
	return p
}

func (p *problems) uncountedIn(at place, containers []v1alpha.SandboxContainer) {
	for i := range containers {
		container := &containers[i]
		if container.Resources == nil {
			continue
		}
		item := at.item(i, container.Name).child("resources")
		p.uncounted(item.child("limits"), container.Resources.Limits)
		p.uncounted(item.child("requests"), container.Resources.Requests)
	}
}

func (p *problems) uncounted(at place, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			p.forbidden(at.entry(string(name)), "", "the Instances of this project need quota, and quota counts cpu and memory only")
		}
	}
}
