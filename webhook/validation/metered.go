// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Metered returns a problem for every resource that a Workload asks for and that quota does not count, in a project whose Instances
// need quota. before is as in Workload.
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
