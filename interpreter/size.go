// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// instanceTypes are the sizes that instance types name. The customization in Lua is generated from them.
var instanceTypes = map[string]corev1.ResourceList{
	"datumcloud/d1-standard-2": {
		corev1.ResourceCPU:    *resource.NewQuantity(1, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(2<<30, resource.BinarySI),
	},
}

// InstanceTypes are the sizes that instance types name. The caller may change them.
func InstanceTypes() map[string]corev1.ResourceList {
	types := make(map[string]corev1.ResourceList, len(instanceTypes))
	for name, size := range instanceTypes {
		types[name] = size.DeepCopy()
	}
	return types
}

// InstanceSize is what one Instance takes, for each resource on its own: the sum over its containers of the limit, else
// the request; where the containers do not say, what the Instance requests; else what its instance type names. A sum
// that leaves a container out counts only when nothing else names the resource. It is empty for an instance type that is
// not known and says no more.
//
// It depends on the API alone, so that quota claims can be sized by it as well.
func InstanceSize(spec *v1alpha.InstanceSpec) corev1.ResourceList {
	size := corev1.ResourceList{}
	for name, quantity := range instanceTypes[spec.Runtime.Resources.InstanceType] {
		size[name] = quantity.DeepCopy()
	}
	for name, quantity := range spec.Runtime.Resources.Requests {
		size[name] = quantity.DeepCopy()
	}
	if spec.Runtime.Sandbox == nil {
		return size
	}
	for name, total := range containerSums(spec.Runtime.Sandbox.Containers) {
		if _, named := size[name]; !named || total.containers == len(spec.Runtime.Sandbox.Containers) {
			size[name] = total.sum
		}
	}
	return size
}

// containerSum is what containers take of a resource, and how many of them say so.
type containerSum struct {
	sum        resource.Quantity
	containers int
}

func containerSums(containers []v1alpha.SandboxContainer) map[corev1.ResourceName]containerSum {
	sums := map[corev1.ResourceName]containerSum{}
	for i := range containers {
		for name, quantity := range taken(containers[i].Resources) {
			soFar := sums[name]
			soFar.sum.Add(quantity)
			soFar.containers++
			sums[name] = soFar
		}
	}
	return sums
}

// taken is the limit of each resource of a container, else the request.
func taken(resources *v1alpha.ContainerResourceRequirements) corev1.ResourceList {
	list := corev1.ResourceList{}
	if resources == nil {
		return list
	}
	maps.Copy(list, resources.Requests)
	maps.Copy(list, resources.Limits)
	return list
}
