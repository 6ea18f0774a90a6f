// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// TestExceededQuota: a quota is no obstacle if the share of the Pod that ends is enough for its successor.
func TestExceededQuota(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), "example.com/gpu": resource.MustParse("1")},
	}}}}}
	pod.UID = types.UID("uid")
	const begin = `pods "web-0" is forbidden: exceeded quota: of-the-cell, `
	for name, test := range map[string]struct {
		message        string
		without        bool
		invalid, noPod bool
	}{
		"its number":          {message: begin + "requested: pods=1, used: pods=3, limited: pods=3", without: true},
		"its number, counted": {message: begin + "requested: count/pods=1, used: count/pods=3, limited: count/pods=3", without: true},
		"its requests": {
			message: begin + "requested: cpu=500m,requests.memory=1Gi, used: cpu=1,requests.memory=2Gi, limited: cpu=1,requests.memory=2Gi",
			without: true,
		},
		"its limits":               {message: begin + "requested: limits.cpu=2, used: limits.cpu=2, limited: limits.cpu=2", without: true},
		"more than its share":      {message: begin + "requested: limits.cpu=3, used: limits.cpu=2, limited: limits.cpu=2"},
		"one of two resources":     {message: begin + "requested: limits.cpu=2,pods=1, used: limits.cpu=3,pods=1, limited: limits.cpu=2,pods=1"},
		"a quota that was lowered": {message: begin + "requested: pods=1, used: pods=4, limited: pods=2"},
		"no Pod":                   {message: begin + "requested: pods=1, used: pods=3, limited: pods=3", noPod: true},
		"a resource of no Pod":     {message: begin + "requested: services=1, used: services=1, limited: services=1"},
		"another text":             {message: `pods "web-0" is forbidden: exceeded quota: of-the-cell`, invalid: true},
		"no quantity":              {message: begin + "requested: pods=one, used: pods=3, limited: pods=3", invalid: true},
		"nothing":                  {message: begin + "requested: , used: , limited: ", invalid: true},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, ok := parseExceeded(test.message)
			if ok == test.invalid {
				t.Fatalf("parsed: %t, %+v", ok, parsed)
			}
			of := pod
			if test.noPod {
				of = &corev1.Pod{}
			}
			if got := ok && parsed.without(of); got != test.without {
				t.Errorf("the quota has enough left: %t, want %t", got, test.without)
			}
		})
	}
}
