// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestOwnerReferences(t *testing.T) {
	owner := metav1.ObjectMeta{Name: "web", UID: "uid"}
	controlledBy := func(kind string) metav1.OwnerReference {
		return metav1.OwnerReference{
			APIVersion: "compute.datumapis.com/v1alpha", Kind: kind, Name: "web", UID: "uid", Controller: new(true), BlockOwnerDeletion: new(true),
		}
	}
	tests := map[string]struct {
		got, want metav1.OwnerReference
	}{
		"Workload":           {(&v1alpha.Workload{ObjectMeta: owner}).ControllerReference(), controlledBy("Workload")},
		"WorkloadDeployment": {(&v1alpha.WorkloadDeployment{ObjectMeta: owner}).ControllerReference(), controlledBy("WorkloadDeployment")},
		"Instance":           {(&v1alpha.Instance{ObjectMeta: owner}).ControllerReference(), controlledBy("Instance")},
		"one of several owners": {
			(&v1alpha.WorkloadDeployment{ObjectMeta: owner}).OwnerReference(),
			metav1.OwnerReference{APIVersion: "compute.datumapis.com/v1alpha", Kind: "WorkloadDeployment", Name: "web", UID: "uid"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if !equality.Semantic.DeepEqual(test.got, test.want) {
				t.Errorf("got  %+v\nwant %+v", test.got, test.want)
			}
		})
	}
}
