// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// TestStartData: environment variables and mounts with a subPath keep their content until a restart, other mounts do not,
// and Secrets of image pulls start no container.
func TestStartData(t *testing.T) {
	named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	sandbox := &v1alpha.SandboxRuntime{
		ImagePullSecrets: []v1alpha.ImagePullSecretReference{{Name: "pull"}},
		Containers: []v1alpha.SandboxContainer{
			{
				Name:    "app",
				Env:     []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named("db")}}}},
				EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: named("app")}}, {}},
				VolumeAttachments: []v1alpha.VolumeAttachment{
					{Name: "whole"}, {Name: "part", SubPath: "a"}, {Name: "disk", SubPath: "b"}, {Name: "certificate", SubPath: "tls.crt"},
				},
			},
			{Name: "proxy", VolumeAttachments: []v1alpha.VolumeAttachment{{Name: "part"}}},
		},
		InitContainers: []v1alpha.SandboxContainer{{
			Name: "init", EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: named("app")}}},
		}},
	}
	volume := func(name string, source v1alpha.InstanceVolumeSource) v1alpha.InstanceVolume {
		return v1alpha.InstanceVolume{Name: name, InstanceVolumeSource: source}
	}
	of := func(name string) v1alpha.InstanceVolumeSource {
		return v1alpha.InstanceVolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named(name)}}
	}
	spec := &v1alpha.InstanceSpec{
		Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: sandbox},
		Volumes: []v1alpha.InstanceVolume{
			volume("whole", of("whole")), volume("part", of("part")), volume("disk", v1alpha.InstanceVolumeSource{}),
			volume("certificate", v1alpha.InstanceVolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}),
			volume("unmounted", of("unmounted")),
		},
	}
	want := map[templates.DataObject][]string{
		{Kind: "ConfigMap", Name: "app"}:       {"app", "init"},
		{Kind: "Secret", Name: "db"}:           {"app"},
		{Kind: "ConfigMap", Name: "whole"}:     nil,
		{Kind: "ConfigMap", Name: "part"}:      {"app"},
		{Kind: "Secret", Name: "tls"}:          {"app"},
		{Kind: "ConfigMap", Name: "unmounted"}: nil,
	}
	if difference := cmp.Diff(want, templates.StartData(spec)); difference != "" {
		t.Errorf("(-want +got):\n%s", difference)
	}
	machine := &v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{VirtualMachine: &v1alpha.VirtualMachineRuntime{}}}
	if got := templates.StartData(machine); len(got) > 0 {
		t.Errorf("a virtual machine starts with %v", got)
	}
}

// TestHashStarted: the order does not matter, and each object, kind and content does.
func TestHashStarted(t *testing.T) {
	data := []v1alpha.DataVersion{{Kind: "Secret", Name: "db", Hash: two}, {Kind: "ConfigMap", Name: "app", Hash: one}}
	turned := []v1alpha.DataVersion{data[1], data[0]}
	before := slices.Clone(data)
	if templates.HashStarted(data) != templates.HashStarted(turned) || !slices.Equal(data, before) {
		t.Error("the order matters")
	}
	hashes := map[string]bool{}
	for _, contents := range [][]v1alpha.DataVersion{
		data,
		data[:1],
		{{Kind: "Secret", Name: "db", Hash: one}},
		{{Kind: "ConfigMap", Name: "db", Hash: two}},
		{{Kind: "Secret", Name: "dbx", Hash: two}},
		{{Kind: "Secret", Name: "db", Hash: templates.AbsentData}},
	} {
		hashes[templates.HashStarted(contents)] = true
	}
	if len(hashes) != 6 {
		t.Errorf("%d of 6 contents are told apart", len(hashes))
	}
}
