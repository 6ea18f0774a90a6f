// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Workload returns the Workload that a consumer writes.
func (w *Wanted) Workload(namespace, name string) *v1alpha.Workload {
	return &v1alpha.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha.WorkloadSpec{Template: w.template(), Placements: w.placements()},
	}
}

func (w *Wanted) template() v1alpha.InstanceTemplateSpec {
	return v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
		Runtime: v1alpha.InstanceRuntimeSpec{
			Resources: v1alpha.InstanceRuntimeResources{
				InstanceType: "datumcloud/d1-standard-2",
				// Small, so that all of them fit into one cell.
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			},
			Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: w.Image}}},
		},
		NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
	}}
}

func (w *Wanted) placements() []v1alpha.WorkloadPlacement {
	var placements []v1alpha.WorkloadPlacement
	for _, p := range w.Placements {
		placements = append(placements, v1alpha.WorkloadPlacement{
			Name: p.Name, CityCodes: p.Cities,
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: int32(p.Replicas)}, //nolint:gosec // at most mostReplicas
		})
	}
	return placements
}

// matches reports whether a Workload is as the consumer wants it, apart from defaults.
func (w *Wanted) matches(workload *v1alpha.Workload) bool {
	sandbox := workload.Spec.Template.Spec.Runtime.Sandbox
	if sandbox == nil || len(sandbox.Containers) != 1 || sandbox.Containers[0].Image != w.Image {
		return false
	}
	return slices.EqualFunc(workload.Spec.Placements, w.Placements, func(got v1alpha.WorkloadPlacement, want Placement) bool {
		return got.Name == want.Name && slices.Equal(got.CityCodes, want.Cities) && int(got.ScaleSettings.MinReplicas) == want.Replicas
	})
}
