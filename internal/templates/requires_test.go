// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestMissingFields(t *testing.T) {
	full := v1alpha.WorkloadDeploymentSpec{
		Assignment: &v1alpha.WorkloadDeploymentAssignment{}, InstanceTypeResources: corev1.ResourceList{corev1.ResourceCPU: {}},
		Networks: &v1alpha.WorkloadDeploymentNetworks{}, Quota: &v1alpha.WorkloadDeploymentQuota{}, Suspended: true,
	}
	all := Requires(&full)
	if all != "assignment,instanceTypeResources,networks,quota,suspended" || Requires((&v1alpha.WorkloadDeploymentSpec{})) != "" {
		t.Errorf("required are %q", all)
	}
	tests := map[string]struct {
		requires string
		spec     v1alpha.WorkloadDeploymentSpec
		want     []string
	}{
		"an earlier hub":               {"", v1alpha.WorkloadDeploymentSpec{}, nil},
		"everything is there":          {all, full, nil},
		"fields that are not required": {"quota", full, nil},
		"fields that were dropped": {
			all, v1alpha.WorkloadDeploymentSpec{Assignment: full.Assignment}, []string{"instanceTypeResources", "networks", "quota", "suspended"},
		},
		"a field of a later hub":         {"quota,sooner", full, []string{"sooner"}},
		"text that somebody has written": {",,quota, quota,", full, []string{" quota"}},
	}
	for name, test := range tests {
		d := &v1alpha.WorkloadDeployment{Spec: test.spec}
		d.Annotations = map[string]string{v1alpha.AnnotationRequires: test.requires}
		if got := MissingFields(d); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	d := &v1alpha.WorkloadDeployment{}
	d.Annotations = map[string]string{v1alpha.AnnotationRequires: strings.Repeat("x,", 100000)}
	if message := (&Refusal{Missing: MissingFields(d)}).Message(); len(message) > v1alpha.MaxMessage {
		t.Errorf("a message has %d bytes", len(message))
	}
}

// TestIndicesOfAPartition: an agent that does not know them would give the new template to what is added to a deployment.
func TestIndicesOfAPartition(t *testing.T) {
	partition := v1alpha.WorkloadDeploymentPartition{Index: 1, Indices: []v1alpha.IndexRange{{First: 1, Last: 1}}}
	spec := v1alpha.WorkloadDeploymentSpec{Partition: &partition}
	if got := Requires(&spec); got != "partition,partition.indices" {
		t.Errorf("%q are required", got)
	}
}

// TestAllRequiredFieldsFit: a cut list of fields would hold every cell back.
func TestAllRequiredFieldsFit(t *testing.T) {
	if all := strings.Join(slices.Sorted(maps.Keys(holding)), ","); len(all) > v1alpha.MaxMessage {
		t.Errorf("all names together have %d bytes, and %d are read", len(all), v1alpha.MaxMessage)
	}
}

// TestRequiredVariables: the sources of variables are types of Kubernetes, which grow on their own.
func TestRequiredVariables(t *testing.T) {
	for name, source := range map[string]corev1.EnvVarSource{
		"fieldRef": {FieldRef: &corev1.ObjectFieldSelector{}}, "resourceFieldRef": {ResourceFieldRef: &corev1.ResourceFieldSelector{}},
	} {
		spec := v1alpha.WorkloadDeploymentSpec{}
		spec.Template.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{
			Containers: []v1alpha.SandboxContainer{{Env: []corev1.EnvVar{{Name: "A", ValueFrom: &source}}}},
		}
		if got := Requires(&spec); got != "template."+name {
			t.Errorf("with %s the cell must have %q", name, got)
		}
	}
}
