// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package data_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/data"
)

func TestNeeded(t *testing.T) {
	secret := func(name string, optional *bool) v1alpha.InstanceVolume {
		return v1alpha.InstanceVolume{InstanceVolumeSource: v1alpha.InstanceVolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: name, Optional: optional},
		}}
	}
	configMap := v1alpha.InstanceVolume{InstanceVolumeSource: v1alpha.InstanceVolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "b"}},
	}}
	tests := map[string]struct {
		volumes   []v1alpha.InstanceVolume
		want      []data.Key
		wantNamed bool
	}{
		"none":           {nil, nil, false},
		"optional alone": {[]v1alpha.InstanceVolume{secret("a", new(true))}, nil, true},
		"each once, in order": {
			[]v1alpha.InstanceVolume{secret("c", nil), secret("a", nil), configMap, secret("a", nil), secret("", nil)},
			[]data.Key{{Kind: "ConfigMap", Name: "b"}, {Kind: "Secret", Name: "a"}, {Kind: "Secret", Name: "c"}},
			true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, named := data.Needed(&v1alpha.InstanceSpec{Volumes: test.volumes})
			if !slices.Equal(got, test.want) || named != test.wantNamed {
				t.Errorf("got %v, %t", got, named)
			}
		})
	}
}
