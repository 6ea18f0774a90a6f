// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// resources converts the resources of a container. Kubernetes ignores an amount of zero.
func (c *conversion) resources(from *corev1.ResourceRequirements, path string) *v1alpha.ContainerResourceRequirements {
	to := &v1alpha.ContainerResourceRequirements{
		Limits: c.amounts(from.Limits, path+".limits"), Requests: c.amounts(from.Requests, path+".requests"),
	}
	if len(to.Limits)+len(to.Requests) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(to.Requests)) {
		if _, limited := to.Limits[name]; !limited && name == corev1.ResourceMemory {
			c.losef(path+".limits."+string(name), "no container has more than the size of its Instance: without a limit it has "+
				"its request and what the other containers leave; choose a size with --instance-type, or set a limit")
		}
	}
	return to
}

func (c *conversion) amounts(from corev1.ResourceList, path string) corev1.ResourceList {
	to := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		switch amount := from[name]; {
		case amount.IsZero():
		case name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage:
			c.losef(path+"."+string(name), "cells attach no devices; an instance type may name what the operator offers")
		default:
			to[name] = amount
		}
	}
	if len(to) == 0 {
		return nil
	}
	return to
}

// sizeOf returns the size of an Instance in the resources that all of its containers name: the default type may be
// smaller.
func sizeOf(sandbox *v1alpha.SandboxRuntime) corev1.ResourceList {
	sum := templates.InstanceSize(&v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: sandbox}}, nil)
	maps.DeleteFunc(sum, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return slices.ContainsFunc(sandbox.Containers, func(container v1alpha.SandboxContainer) bool {
			_, names := templates.ContainerSize(&container)[name]
			return !names
		})
	})
	if len(sum) == 0 {
		return nil
	}
	return sum
}
