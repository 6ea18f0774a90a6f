// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// defaulted is a template whose fields with a default are all left out.
func defaulted() *v1alpha.InstanceTemplateSpec {
	probe := func() *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{}}}
	}
	container := v1alpha.SandboxContainer{
		Name: "app", Image: "one", ReadinessProbe: probe(), LivenessProbe: probe(), StartupProbe: probe(),
		Ports: []v1alpha.NamedPort{{Name: "http", Port: 80}},
		Env:   []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
	}
	return &v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
		Runtime:           v1alpha.InstanceRuntimeSpec{Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{container}}},
		NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
		Volumes: []v1alpha.InstanceVolume{
			{Name: "conf", InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
			{Name: "keys", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "keys"}}},
			{Name: "disk", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Disk: &v1alpha.DiskVolumeSource{Template: &v1alpha.DiskTemplate{}}}},
		},
	}}
}

// TestDefaultsAreNotChanges: a default that is written means what its absence means, and any other value does not.
func TestDefaultsAreNotChanges(t *testing.T) {
	type change struct {
		written, other func(*v1alpha.InstanceTemplateSpec)
	}
	inContainer := func(do func(*v1alpha.SandboxContainer)) func(*v1alpha.InstanceTemplateSpec) {
		return func(s *v1alpha.InstanceTemplateSpec) { do(&s.Spec.Runtime.Sandbox.Containers[0]) }
	}
	probe := func(field func(*corev1.Probe) *int32, standard int32) change {
		set := func(value int32) func(*v1alpha.InstanceTemplateSpec) {
			return inContainer(func(c *v1alpha.SandboxContainer) {
				for _, p := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe} {
					*field(p) = value
				}
			})
		}
		return change{set(standard), set(standard + 1)}
	}
	handler := func(written, other corev1.HTTPGetAction) change {
		set := func(value corev1.HTTPGetAction) func(*v1alpha.InstanceTemplateSpec) {
			return inContainer(func(c *v1alpha.SandboxContainer) { *c.LivenessProbe.HTTPGet = value })
		}
		return change{set(written), set(other)}
	}
	spec := func(do func(*v1alpha.InstanceSpec)) func(*v1alpha.InstanceTemplateSpec) {
		return func(s *v1alpha.InstanceTemplateSpec) { do(&s.Spec) }
	}
	for name, c := range map[string]change{
		"periodSeconds":    probe(func(p *corev1.Probe) *int32 { return &p.PeriodSeconds }, 10),
		"timeoutSeconds":   probe(func(p *corev1.Probe) *int32 { return &p.TimeoutSeconds }, 1),
		"successThreshold": probe(func(p *corev1.Probe) *int32 { return &p.SuccessThreshold }, 1),
		"failureThreshold": probe(func(p *corev1.Probe) *int32 { return &p.FailureThreshold }, 3),
		"scheme":           handler(corev1.HTTPGetAction{Scheme: corev1.URISchemeHTTP}, corev1.HTTPGetAction{Scheme: corev1.URISchemeHTTPS}),
		"path":             handler(corev1.HTTPGetAction{Path: "/"}, corev1.HTTPGetAction{Path: "/ready"}),
		"terminationGracePeriodSeconds": {
			spec(func(s *v1alpha.InstanceSpec) { s.Runtime.Sandbox.TerminationGracePeriodSeconds = new(int64(30)) }),
			spec(func(s *v1alpha.InstanceSpec) { s.Runtime.Sandbox.TerminationGracePeriodSeconds = new(int64(0)) }),
		},
		"defaultMode of a ConfigMap": {
			spec(func(s *v1alpha.InstanceSpec) { s.Volumes[0].ConfigMap.DefaultMode = new(int32(420)) }),
			spec(func(s *v1alpha.InstanceSpec) { s.Volumes[0].ConfigMap.DefaultMode = new(int32(0)) }),
		},
		"defaultMode of a Secret": {
			spec(func(s *v1alpha.InstanceSpec) { s.Volumes[1].Secret.DefaultMode = new(int32(420)) }),
			spec(func(s *v1alpha.InstanceSpec) { s.Volumes[1].Secret.DefaultMode = new(int32(384)) }),
		},
		"type of a disk": {
			spec(func(s *v1alpha.InstanceSpec) { s.Volumes[2].Disk.Template.Spec.Type = "pd-standard" }),
			spec(func(s *v1alpha.InstanceSpec) { s.Volumes[2].Disk.Template.Spec.Type = "other" }),
		},
		"protocol": {
			inContainer(func(c *v1alpha.SandboxContainer) { c.Ports[0].Protocol = new(corev1.ProtocolTCP) }),
			inContainer(func(c *v1alpha.SandboxContainer) { c.Ports[0].Protocol = new(corev1.ProtocolUDP) }),
		},
		"apiVersion of a field": {
			inContainer(func(c *v1alpha.SandboxContainer) { c.Env[0].ValueFrom.FieldRef.APIVersion = "v1" }),
			inContainer(func(c *v1alpha.SandboxContainer) { c.Env[0].ValueFrom.FieldRef.APIVersion = "v2" }),
		},
		"securityContext": {
			inContainer(func(c *v1alpha.SandboxContainer) { c.SecurityContext = &v1alpha.ContainerSecurityContext{} }),
			inContainer(func(c *v1alpha.SandboxContainer) {
				c.SecurityContext = &v1alpha.ContainerSecurityContext{RunAsNonRoot: new(false)}
			}),
		},
		"securityContext of the sandbox": {
			spec(func(s *v1alpha.InstanceSpec) { s.Runtime.Sandbox.SecurityContext = &v1alpha.SandboxSecurityContext{} }),
			spec(func(s *v1alpha.InstanceSpec) {
				s.Runtime.Sandbox.SecurityContext = &v1alpha.SandboxSecurityContext{RunAsUser: new(int64(0))}
			}),
		},
		"resources": {
			inContainer(func(c *v1alpha.SandboxContainer) {
				c.Resources = &v1alpha.ContainerResourceRequirements{Limits: corev1.ResourceList{}}
			}),
			inContainer(func(c *v1alpha.SandboxContainer) {
				c.Resources = &v1alpha.ContainerResourceRequirements{Limits: corev1.ResourceList{"cpu": {}}}
			}),
		},
		"lifecycle": {
			inContainer(func(c *v1alpha.SandboxContainer) { c.Lifecycle = &corev1.Lifecycle{} }),
			inContainer(func(c *v1alpha.SandboxContainer) {
				c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{}}
			}),
		},
		"name of the interface": {
			spec(func(s *v1alpha.InstanceSpec) { s.NetworkInterfaces[0].Name = "eth0" }),
			spec(func(s *v1alpha.InstanceSpec) { s.NetworkInterfaces[0].Name = "eth1" }),
		},
		"onNodeLoss": {
			spec(func(s *v1alpha.InstanceSpec) { s.OnNodeLoss = v1alpha.NodeLossReplace }),
			spec(func(s *v1alpha.InstanceSpec) { s.OnNodeLoss = v1alpha.NodeLossWait }),
		},
		"command": {
			inContainer(func(c *v1alpha.SandboxContainer) { c.Command = []string{} }),
			inContainer(func(c *v1alpha.SandboxContainer) { c.Command = []string{""} }),
		},
	} {
		base, written, other := defaulted(), defaulted(), defaulted()
		c.written(written)
		c.other(other)
		if hashOf(t, written) != hashOf(t, base) || !templates.Equalities.DeepEqual(written, base) {
			t.Errorf("%s: the default changes the template", name)
		}
		if hashOf(t, other) == hashOf(t, base) || templates.Equalities.DeepEqual(other, base) {
			t.Errorf("%s: another value does not change the template", name)
		}
		before, err := templates.VersionOf(written)
		if err != nil || !before.Is(before.Hash) || before.NameOf("", map[string]bool{"x": true}) != before.Hash {
			t.Errorf("%s: its version is %+v, %v", name, before, err)
		}
	}
}

// TestKeep: a deployment keeps the text of a template that means the same.
func TestKeep(t *testing.T) {
	written := defaulted()
	written.Spec.Runtime.Sandbox.TerminationGracePeriodSeconds = new(int64(30))
	existing := &v1alpha.WorkloadDeploymentSpec{Template: *written, Partition: &v1alpha.WorkloadDeploymentPartition{Template: *written}}
	desired := &v1alpha.WorkloadDeploymentSpec{Template: *defaulted(), Partition: &v1alpha.WorkloadDeploymentPartition{Template: *defaulted()}}
	templates.Keep(existing, desired)
	for _, template := range desired.Templates() {
		if !reflect.DeepEqual(template, written) {
			t.Errorf("the template is %+v, want %+v", template, written)
		}
	}
	desired.Template.Spec.Runtime.Sandbox.Containers[0].Image = "two"
	changed := hashOf(t, &desired.Template)
	if templates.Keep(existing, desired); hashOf(t, &desired.Template) != changed {
		t.Error("another template is not taken over")
	}
}
