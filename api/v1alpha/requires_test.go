// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"maps"
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

// TestAllRequiredFieldsFit: a cut list of fields would hold every cell back.
func TestAllRequiredFieldsFit(t *testing.T) {
	if all := strings.Join(slices.Sorted(maps.Keys(holding)), ","); len(all) > MaxMessage {
		t.Errorf("all names together have %d bytes, and %d are read", len(all), MaxMessage)
	}
}

// TestTemplateFieldsThatAnOldCellLacks: a CRD that does not know a field drops it, and the cell must notice.
func TestTemplateFieldsThatAnOldCellLacks(t *testing.T) {
	probe := &corev1.Probe{}
	inContainer := func(change func(*SandboxContainer)) func(*SandboxRuntime) {
		return func(s *SandboxRuntime) { change(&s.Containers[0]) }
	}
	variable := func(source corev1.EnvVarSource) func(*SandboxRuntime) {
		return inContainer(func(c *SandboxContainer) { c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &source}} })
	}
	tests := map[string]func(*SandboxRuntime){
		"fieldRef":         variable(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{}}),
		"resourceFieldRef": variable(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{}}),
		"initContainers":   func(s *SandboxRuntime) { s.InitContainers = []SandboxContainer{{}} },
		"lifecycle":        inContainer(func(c *SandboxContainer) { c.Lifecycle = &corev1.Lifecycle{} }),
		"livenessProbe":    inContainer(func(c *SandboxContainer) { c.LivenessProbe = probe }),
		"readinessProbe":   inContainer(func(c *SandboxContainer) { c.ReadinessProbe = probe }),
		"startupProbe":     inContainer(func(c *SandboxContainer) { c.StartupProbe = probe }),
		"workingDir":       inContainer(func(c *SandboxContainer) { c.WorkingDir = "/" }),
		"readOnly":         inContainer(func(c *SandboxContainer) { c.VolumeAttachments = []VolumeAttachment{{ReadOnly: true}} }),
		"subPath":          inContainer(func(c *SandboxContainer) { c.VolumeAttachments = []VolumeAttachment{{SubPath: "a"}} }),
		"securityContext":  inContainer(func(c *SandboxContainer) { c.SecurityContext = &ContainerSecurityContext{} }),

		"terminationGracePeriodSeconds": func(s *SandboxRuntime) { s.TerminationGracePeriodSeconds = new(int64(1)) },
	}
	for name := range inTemplate {
		if _, tested := tests[name]; !tested && name != "emptyDir" {
			t.Errorf("no test sets %s", name)
		}
	}
	for name, change := range tests {
		spec := WorkloadDeploymentSpec{}
		spec.Template.Spec.Runtime.Sandbox = &SandboxRuntime{Containers: []SandboxContainer{{Name: "a"}}}
		change(spec.Template.Spec.Runtime.Sandbox)
		if got := spec.Requires(); got != "template."+name {
			t.Errorf("with %s the cell must have %q", name, got)
		}
	}
	spec := WorkloadDeploymentSpec{}
	spec.Template.Spec.Volumes = []InstanceVolume{{InstanceVolumeSource: InstanceVolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	if got := spec.Requires(); got != "template.emptyDir" {
		t.Errorf("with emptyDir the cell must have %q", got)
	}
	// The sandbox alone has a security context.
	spec.Template.Spec = InstanceSpec{}
	spec.Template.Spec.Runtime.Sandbox = &SandboxRuntime{SecurityContext: &SandboxSecurityContext{}}
	if got := spec.Requires(); got != "template.securityContext" {
		t.Errorf("with securityContext the cell must have %q", got)
	}
}
