// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func TestDataObjects(t *testing.T) {
	secret := func(name string, optional *bool) v1alpha.InstanceVolume {
		return v1alpha.InstanceVolume{InstanceVolumeSource: v1alpha.InstanceVolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: name, Optional: optional},
		}}
	}
	configMap := v1alpha.InstanceVolume{InstanceVolumeSource: v1alpha.InstanceVolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "b"}},
	}}
	tests := map[string]struct {
		volumes                  []v1alpha.InstanceVolume
		wantNeeded, wantOptional []templates.DataObject
	}{
		"none": {},
		"optional alone": {
			volumes:      []v1alpha.InstanceVolume{secret("a", new(true)), secret("a", new(true))},
			wantOptional: []templates.DataObject{{Kind: "Secret", Name: "a"}},
		},
		"each once, by kind and name": {
			volumes:    []v1alpha.InstanceVolume{secret("c", nil), secret("a", nil), configMap, secret("a", nil)},
			wantNeeded: []templates.DataObject{{Kind: "ConfigMap", Name: "b"}, {Kind: "Secret", Name: "a"}, {Kind: "Secret", Name: "c"}},
		},
		"optional in one place and needed in another is needed": {
			volumes:    []v1alpha.InstanceVolume{secret("a", new(true)), secret("a", new(false))},
			wantNeeded: []templates.DataObject{{Kind: "Secret", Name: "a"}},
		},
		"a reference without a name names nothing": {volumes: []v1alpha.InstanceVolume{secret("", nil), secret("", new(true))}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			needed, optional := templates.DataObjects(&v1alpha.InstanceSpec{Volumes: test.volumes})
			if !slices.Equal(needed, test.wantNeeded) || !slices.Equal(optional, test.wantOptional) {
				t.Errorf("got %v and %v", needed, optional)
			}
			deployment := &v1alpha.WorkloadDeployment{}
			deployment.Spec.Template.Spec.Volumes = test.volumes
			if got := templates.HasDependencies(deployment); got != (len(needed)+len(optional) > 0) {
				t.Errorf("a deployment has dependencies: %t", got)
			}
			if deployment.Spec.Slices = 1; !templates.HasDependencies(deployment) {
				t.Error("a deployment with a slice has none")
			}
		})
	}
}

func TestEnvironmentObjects(t *testing.T) {
	spec := &v1alpha.InstanceSpec{}
	spec.Runtime = v1alpha.InstanceRuntimeSpec{Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{
		EnvFrom: []corev1.EnvFromSource{
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}, Optional: new(true)}},
			{},
		},
	}}}}
	needed, optional := templates.DataObjects(spec)
	if !slices.Equal(needed, []templates.DataObject{{Kind: "ConfigMap", Name: "settings"}}) ||
		!slices.Equal(optional, []templates.DataObject{{Kind: "Secret", Name: "keys"}}) {
		t.Errorf("got %v and %v", needed, optional)
	}
}
