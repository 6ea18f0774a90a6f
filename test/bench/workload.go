// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

var (
	workloadResource = v1alpha.GroupVersion.WithResource("workloads")
	floorResource    = schema.GroupVersionResource{Group: floorGroup, Version: workloadResource.Version, Resource: workloadResource.Resource}
)

// sampleWorkload returns a small valid Workload with one network, whose use is reviewed, and the given cities.
func sampleWorkload(cities ...string) *v1alpha.Workload {
	return &v1alpha.Workload{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{Name: "bench", Namespace: namespace},
		Spec: v1alpha.WorkloadSpec{
			Template: v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
				Runtime: v1alpha.InstanceRuntimeSpec{
					Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud/d1-standard-2"},
					Sandbox:   &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "registry.example.com/app:1"}}},
				},
				NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
			}},
			Placements: []v1alpha.WorkloadPlacement{{
				Name: "main", CityCodes: cities, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
			}},
			// As in the StatefulSets of the floor.
			MinReadySeconds: new(int32(0)),
		},
	}
}

// sampleAs returns the sample in another API group.
func sampleAs(resource schema.GroupVersionResource) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(sampleWorkload(city))
	if err != nil {
		return nil, fmt.Errorf("encode the sample: %w", err)
	}
	o := &unstructured.Unstructured{Object: fields}
	unstructured.RemoveNestedField(o.Object, "status")
	o.SetAPIVersion(resource.GroupVersion().String())
	return o, nil
}
