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

// TestAllRequiredFieldsFit: a cut list of fields would hold every cell back.
func TestAllRequiredFieldsFit(t *testing.T) {
	if all := strings.Join(slices.Sorted(maps.Keys(holding)), ","); len(all) > v1alpha.MaxMessage {
		t.Errorf("all names together have %d bytes, and %d are read", len(all), v1alpha.MaxMessage)
	}
}

// TestTemplateFieldsThatAnOldCellLacks: a CRD that does not know a field drops it, and the cell must notice.
func TestTemplateFieldsThatAnOldCellLacks(t *testing.T) {
	probe := &corev1.Probe{}
	inContainer := func(change func(*v1alpha.SandboxContainer)) func(*v1alpha.SandboxRuntime) {
		return func(s *v1alpha.SandboxRuntime) { change(&s.Containers[0]) }
	}
	variable := func(source corev1.EnvVarSource) func(*v1alpha.SandboxRuntime) {
		return inContainer(func(c *v1alpha.SandboxContainer) { c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &source}} })
	}
	tests := map[string]func(*v1alpha.SandboxRuntime){
		"fieldRef":         variable(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{}}),
		"resourceFieldRef": variable(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{}}),
		"initContainers":   func(s *v1alpha.SandboxRuntime) { s.InitContainers = []v1alpha.SandboxContainer{{}} },
		"lifecycle":        inContainer(func(c *v1alpha.SandboxContainer) { c.Lifecycle = &corev1.Lifecycle{} }),
		"livenessProbe":    inContainer(func(c *v1alpha.SandboxContainer) { c.LivenessProbe = probe }),
		"readinessProbe":   inContainer(func(c *v1alpha.SandboxContainer) { c.ReadinessProbe = probe }),
		"startupProbe":     inContainer(func(c *v1alpha.SandboxContainer) { c.StartupProbe = probe }),
		"workingDir":       inContainer(func(c *v1alpha.SandboxContainer) { c.WorkingDir = "/" }),
		"readOnly":         inContainer(func(c *v1alpha.SandboxContainer) { c.VolumeAttachments = []v1alpha.VolumeAttachment{{ReadOnly: true}} }),
		"subPath":          inContainer(func(c *v1alpha.SandboxContainer) { c.VolumeAttachments = []v1alpha.VolumeAttachment{{SubPath: "a"}} }),
		"securityContext":  inContainer(func(c *v1alpha.SandboxContainer) { c.SecurityContext = &v1alpha.ContainerSecurityContext{} }),

		"terminationGracePeriodSeconds": func(s *v1alpha.SandboxRuntime) { s.TerminationGracePeriodSeconds = new(int64(1)) },
	}
	for name := range inTemplate {
		if _, tested := tests[name]; !tested && name != "emptyDir" {
			t.Errorf("no test sets %s", name)
		}
	}
	for name, change := range tests {
		spec := v1alpha.WorkloadDeploymentSpec{}
		spec.Template.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "a"}}}
		change(spec.Template.Spec.Runtime.Sandbox)
		if got := Requires(&spec); got != "template."+name {
			t.Errorf("with %s the cell must have %q", name, got)
		}
	}
	spec := v1alpha.WorkloadDeploymentSpec{}
	spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{
		{InstanceVolumeSource: v1alpha.InstanceVolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	if got := Requires(&spec); got != "template.emptyDir" {
		t.Errorf("with emptyDir the cell must have %q", got)
	}
	// The sandbox alone has a security context.
	spec.Template.Spec = v1alpha.InstanceSpec{}
	spec.Template.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{SecurityContext: &v1alpha.SandboxSecurityContext{}}
	if got := Requires(&spec); got != "template.securityContext" {
		t.Errorf("with securityContext the cell must have %q", got)
	}
}
