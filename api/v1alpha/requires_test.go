// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestMissingFields(t *testing.T) {
	full := WorkloadDeploymentSpec{
		Assignment: &WorkloadDeploymentAssignment{}, InstanceTypeResources: corev1.ResourceList{corev1.ResourceCPU: {}},
		Networks: &WorkloadDeploymentNetworks{}, Quota: &WorkloadDeploymentQuota{}, Suspended: true,
	}
	all := full.Requires()
	if all != "assignment,instanceTypeResources,networks,quota,suspended" || (&WorkloadDeploymentSpec{}).Requires() != "" {
		t.Errorf("required are %q", all)
	}
	tests := map[string]struct {
		requires string
		spec     WorkloadDeploymentSpec
		want     []string
	}{
		"an earlier hub":                 {"", WorkloadDeploymentSpec{}, nil},
		"everything is there":            {all, full, nil},
		"fields that are not required":   {"quota", full, nil},
		"fields that were dropped":       {all, WorkloadDeploymentSpec{Assignment: full.Assignment}, []string{"instanceTypeResources", "networks", "quota", "suspended"}},
		"a field of a later hub":         {"quota,sooner", full, []string{"sooner"}},
		"text that somebody has written": {",,quota, quota,", full, []string{" quota"}},
	}
	for name, test := range tests {
		d := &WorkloadDeployment{Spec: test.spec}
		d.Annotations = map[string]string{AnnotationRequires: test.requires}
		if got := d.MissingFields(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	d := &WorkloadDeployment{}
	d.Annotations = map[string]string{AnnotationRequires: strings.Repeat("x,", 100000)}
	if message := MissingMessage(d.MissingFields()); len(message) > MaxMessage {
		t.Errorf("a message has %d bytes", len(message))
	}
}
