// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// InstanceSize is the amount of each resource that one Instance takes. Karmada reserves it, quota counts it, and the
// containers of the Pod together request it (Containers). typeResources are the resources of the instance type as
// recorded in the deployment (WorkloadDeploymentSpec.InstanceTypeResources), not the type's current resources.
//
// A container takes its limit of a resource, else at least its request. If every container has a limit, the size is
// their sum. If some have none, the size is the request of the Instance, else of its instance type, but at least the
// sum of what the containers take: a request is no limit. A resource that nothing names is not in the size. The caller
// may change the result.
//
// Sidecars are part of the sum: a sidecar that names nothing takes nothing. Any other init container runs alone with
// the sidecars before it, and the size is at least their sum, as Kubernetes counts it.
func InstanceSize(spec *v1alpha.InstanceSpec, typeResources corev1.ResourceList) corev1.ResourceList {
	size := corev1.ResourceList{}
	maps.Copy(size, typeResources.DeepCopy())
	maps.Copy(size, spec.Runtime.Resources.Requests.DeepCopy())
	sandbox := spec.Runtime.Sandbox
	if sandbox == nil {
		return size
	}
	for name, total := range sumContainers(sandbox) {
		if named, ok := size[name]; total.named && (!ok || total.limited == len(sandbox.Containers) || named.Cmp(total.sum) < 0) {
			size[name] = total.sum
		}
		if named, ok := size[name]; total.begins != nil && (!ok || named.Cmp(*total.begins) < 0) {
			size[name] = *total.begins
		}
	}
	return size
}

// ContainersSize are the sizes of the containers of a sandbox, in their order. With the sidecars they add up to Instance,
// unless the init containers take more: the first container that does not name a resource takes the rest of it, else
// the first one without a limit. The caller may change the result.
func ContainersSize(spec *v1alpha.InstanceSpec, typeResources corev1.ResourceList) []corev1.ResourceList {
	sandbox := spec.Runtime.Sandbox
	if sandbox == nil {
		return nil
	}
	sizes := make([]corev1.ResourceList, len(sandbox.Containers))
	remaining := InstanceSize(spec, typeResources)
	for i := range sandbox.InitContainers {
		if container := &sandbox.InitContainers[i]; container.IsSidecar() {
			subtract(remaining, ContainerSize(container))
		}
	}
	for i := range sandbox.Containers {
		sizes[i] = ContainerSize(&sandbox.Containers[i])
		subtract(remaining, sizes[i])
	}
	for name, quantity := range remaining {
		if takes := takesRest(sandbox, sizes, name); quantity.Sign() > 0 && takes >= 0 {
			quantity.Add(sizes[takes][name])
			sizes[takes][name] = quantity
		}
	}
	return sizes
}

// takesRest returns the index of the container that takes the rest of a resource; -1 if all have a limit.
func takesRest(sandbox *v1alpha.SandboxRuntime, sizes []corev1.ResourceList, name corev1.ResourceName) int {
	silent := slices.IndexFunc(sizes, func(size corev1.ResourceList) bool {
		_, named := size[name]
		return !named
	})
	if silent >= 0 {
		return silent
	}
	return slices.IndexFunc(sandbox.Containers, func(container v1alpha.SandboxContainer) bool { return !IsLimited(&container, name) })
}

// subtract takes each quantity of taken from the same resource of list.
func subtract(list, taken corev1.ResourceList) {
	for name, quantity := range taken {
		left := list[name]
		left.Sub(quantity)
		list[name] = left
	}
}

// containerSum is the amount of a resource that containers take.
type containerSum struct {
	// sum is the amount that the containers and the sidecars take together.
	sum resource.Quantity
	// named reports whether any of them names the resource, and limited is how many of the containers have a limit.
	named   bool
	limited int
	// sidecars is the amount that the sidecars so far take.
	sidecars resource.Quantity
	// begins is the highest amount that an init container takes with the sidecars before it; nil if none names the
	// resource.
	begins *resource.Quantity
}

func sumContainers(sandbox *v1alpha.SandboxRuntime) map[corev1.ResourceName]containerSum {
	sums := map[corev1.ResourceName]containerSum{}
	for i := range sandbox.Containers {
		for name, quantity := range ContainerSize(&sandbox.Containers[i]) {
			soFar := sums[name]
			soFar.sum.Add(quantity)
			soFar.named = true
			if IsLimited(&sandbox.Containers[i], name) {
				soFar.limited++
			}
			sums[name] = soFar
		}
	}
	for i := range sandbox.InitContainers {
		container := &sandbox.InitContainers[i]
		for name, quantity := range ContainerSize(container) {
			soFar := sums[name]
			if container.IsSidecar() {
				soFar.sum.Add(quantity.DeepCopy())
				soFar.sidecars.Add(quantity)
				soFar.named = true
			} else {
				quantity.Add(soFar.sidecars.DeepCopy())
				if soFar.begins == nil || soFar.begins.Cmp(quantity) < 0 {
					soFar.begins = &quantity
				}
			}
			sums[name] = soFar
		}
	}
	return sums
}

// ContainerSize is the limit of a container of each resource, else its request. As in Kubernetes, an amount of zero is
// none. The caller may change it.
func ContainerSize(c *v1alpha.SandboxContainer) corev1.ResourceList {
	size := corev1.ResourceList{}
	if c.Resources == nil {
		return size
	}
	for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
		for name, quantity := range list {
			if !quantity.IsZero() {
				size[name] = quantity.DeepCopy()
			}
		}
	}
	return size
}

// IsLimited reports whether a container has a limit of a resource. A limit of zero does not count.
func IsLimited(c *v1alpha.SandboxContainer, name corev1.ResourceName) bool {
	if c.Resources == nil {
		return false
	}
	limit := c.Resources.Limits[name]
	return !limit.IsZero()
}

// QuotaGrants reports whether the quota of the deployment lets the Instance at an index start in this size: no quota is
// configured, or the index is granted for at least that size.
func QuotaGrants(d *v1alpha.WorkloadDeployment, index int, size v1alpha.QuotaSize) bool {
	quota := d.Spec.Quota
	if quota == nil {
		return true
	}
	return naming.InRanges(quota.Granted, index) && (quota.InstanceSize == nil || size.Fits(*quota.InstanceSize))
}

// QuotaWithheld is why the quota of the deployment does not let the Instance at an index start, or nil when that is not
// known.
func QuotaWithheld(d *v1alpha.WorkloadDeployment, index int) *v1alpha.QuotaWithheld {
	if d.Spec.Quota == nil {
		return nil
	}
	for i := range d.Spec.Quota.Withheld {
		if naming.InRanges(d.Spec.Quota.Withheld[i].Indices, index) {
			return &d.Spec.Quota.Withheld[i]
		}
	}
	return nil
}

// SizeOfDeployment is the size of the Instances of the deployment.
func SizeOfDeployment(d *v1alpha.WorkloadDeployment) v1alpha.QuotaSize {
	size := quotaSize(InstanceSize(&d.Spec.Template.Spec, d.Spec.InstanceTypeResources))
	if p := d.Spec.Partition; p != nil {
		// Some Instances have the earlier template.
		earlier := quotaSize(InstanceSize(&p.Template.Spec, p.InstanceTypeResources))
		size = v1alpha.QuotaSize{VCPUs: max(size.VCPUs, earlier.VCPUs), Memory: max(size.Memory, earlier.Memory)}
	}
	return size
}

// SizeOfInstance is the size of the Instance, with the resources of its instance type as recorded at its creation.
func SizeOfInstance(i *v1alpha.Instance) v1alpha.QuotaSize {
	var typeResources corev1.ResourceList
	if i.Spec.Controller != nil {
		typeResources = i.Spec.Controller.InstanceTypeResources
	}
	return quotaSize(InstanceSize(&i.Spec, typeResources))
}

// quotaSize rounds up to the units of quota. A resource that is not in the size counts as zero.
func quotaSize(size corev1.ResourceList) v1alpha.QuotaSize {
	const mebibyte = 1 << 20
	memory := size.Memory().Value()
	result := v1alpha.QuotaSize{VCPUs: max(0, size.Cpu().MilliValue()), Memory: max(0, memory/mebibyte)}
	if memory > 0 && memory%mebibyte > 0 {
		result.Memory++
	}
	return result
}
