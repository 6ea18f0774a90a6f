// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// resources converts the resources of a container. Kubernetes ignores a device of amount zero.
func (c *conversion) resources(from *corev1.ResourceRequirements, path string) *v1alpha.ContainerResourceRequirements {
	target := &v1alpha.ContainerResourceRequirements{
		Limits: c.amounts(from.Limits, nil, path+".limits"), Requests: c.amounts(from.Requests, from.Limits, path+".requests"),
	}
	if len(target.Limits)+len(target.Requests) == 0 {
		return nil
	}
	return target
}

// amounts converts the amounts of a container, of which others are listed already.
func (c *conversion) amounts(from, listed corev1.ResourceList, path string) corev1.ResourceList {
	target := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		amount := from[name]
		switch {
		case name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage:
			target[name] = amount
		case amount.IsZero(), !listed.Name(name, resource.DecimalSI).IsZero():
		case strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			c.losef(path+"."+string(name), "cells have no huge pages")
		default:
			c.losef(path+"."+string(name), "cells attach no devices; an instance type may name what the operator offers")
		}
	}
	if len(target) == 0 {
		return nil
	}
	return target
}

// size gives the Instance the sum of its containers' limits, where all have one: its instance type may be smaller.
// Otherwise the size is the type's, and what no container may exceed. The type is known to the project alone.
func (c *conversion) size(runtime *v1alpha.InstanceRuntimeSpec) {
	sum := templates.InstanceSize(&v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: runtime.Sandbox}}, nil)
	var open, least []string
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		amount, named := sum[name]
		unlimited := func(container v1alpha.SandboxContainer) bool { return !templates.IsLimited(&container, name) }
		switch {
		case !named:
		case slices.ContainsFunc(runtime.Sandbox.Containers, unlimited):
			open = append(open, string(name))
			least = append(least, fmt.Sprintf("%s %s", name, amount.String()))
		case c.InstanceType == "":
			if runtime.Resources.Requests == nil {
				runtime.Resources.Requests = corev1.ResourceList{}
			}
			runtime.Resources.Requests[name] = amount
		}
	}
	if len(open) > 0 && c.InstanceType == "" {
		names := strings.Join(open, " and ")
		c.losef(podPath+".containers", "not every container has a limit of %s: the Instance has the size of its instance type, "+
			"and no container has more; if the default type has less than %s, choose another in --instance-type, "+
			"or set spec.template.spec.runtime.resources.requests of %s", names, strings.Join(least, " and "), names)
	}
}
