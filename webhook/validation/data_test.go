// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// specNaming returns the spec of a Workload whose volumes name ConfigMaps, with Secret registry for pulls.
func specNaming(configMaps ...string) *v1alpha.WorkloadSpec {
	spec := &v1alpha.WorkloadSpec{Rollout: &v1alpha.WorkloadRollout{}}
	template := &spec.Template.Spec
	template.Runtime.Sandbox = &v1alpha.SandboxRuntime{ImagePullSecrets: []v1alpha.ImagePullSecretReference{{Name: "registry"}}}
	for _, name := range configMaps {
		template.Volumes = append(template.Volumes, v1alpha.InstanceVolume{InstanceVolumeSource: v1alpha.InstanceVolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		}})
	}
	return spec
}

func TestOnDataChange(t *testing.T) {
	long := strings.Repeat("a", templates.MaxSnapshotted+1)
	var many []string
	for i := range templates.MaxRollingData + 1 {
		many = append(many, "app-"+strings.Repeat("x", i))
	}
	const at, rolls = "spec.rollout.onDataChange", v1alpha.DataRollout
	for name, test := range map[string]struct {
		names []string
		of    v1alpha.OnDataChange
		// field and detail are of the only problem; "": the input is valid.
		field, detail string
	}{
		"all":            {[]string{"app"}, v1alpha.OnDataChange{Policy: rolls}, "", ""},
		"in place":       {[]string{"app", long}, v1alpha.OnDataChange{Policy: v1alpha.DataInPlace}, "", ""},
		"by name":        {[]string{"app", long}, v1alpha.OnDataChange{Policy: rolls, ConfigMaps: []string{"app"}}, "", ""},
		"no policy":      {nil, v1alpha.OnDataChange{}, at + ".policy", "supported values"},
		"another policy": {nil, v1alpha.OnDataChange{Policy: "Restart"}, at + ".policy", "supported values"},
		"a name without effect": {
			[]string{"app"},
			v1alpha.OnDataChange{Policy: v1alpha.DataInPlace, ConfigMaps: []string{"app"}},
			at,
			"set policy Rollout, or remove the names",
		},
		"not named": {
			[]string{"app"},
			v1alpha.OnDataChange{Policy: rolls, ConfigMaps: []string{"app", "apps"}},
			at + ".configMaps[1]",
			"no container or volume of spec.template names this ConfigMap",
		},
		"of another kind": {
			[]string{"app"}, v1alpha.OnDataChange{Policy: rolls, Secrets: []string{"app"}}, at + ".secrets[0]", "names this Secret",
		},
		"for pulls alone": {
			[]string{"app"}, v1alpha.OnDataChange{Policy: rolls, Secrets: []string{"registry"}}, at + ".secrets[0]", "names this Secret",
		},
		"twice": {
			[]string{"app"}, v1alpha.OnDataChange{Policy: rolls, ConfigMaps: []string{"app", "app"}}, at + ".configMaps[1]", "Duplicate value",
		},
		"a long name": {[]string{long}, v1alpha.OnDataChange{Policy: rolls}, at, "may have at most 227 bytes"},
		"too many":    {many, v1alpha.OnDataChange{Policy: rolls}, at, "at most 64 ConfigMaps and Secrets"},
	} {
		spec := specNaming(test.names...)
		spec.Rollout.OnDataChange = &test.of
		found := &problems{}
		found.rollout(place{}.child("spec").child("rollout"), spec)
		switch {
		case test.field == "" && len(found.list) > 0, test.field != "" && len(found.list) != 1:
			t.Errorf("%s: got %v", name, found.list)
		case test.field != "" && (found.list[0].Field != test.field || !strings.Contains(found.list[0].Error(), test.detail)):
			t.Errorf("%s: got %v, want %s at %s", name, found.list[0], test.detail, test.field)
		}
	}
}

// TestNamesOfSnapshots: a Workload names its objects, not what the add-on makes of them.
func TestNamesOfSnapshots(t *testing.T) {
	spec := specNaming("app", "app.snapshot-0123456789abcdef", "app.snapshot-0123")
	found := &problems{}
	found.dataNames(place{}.child("spec", "template", "spec"), &spec.Template.Spec)
	if len(found.list) != 1 || found.list[0].Field != "spec.template.spec.volumes[1].configMap.name" {
		t.Errorf("got %v", found.list)
	}
}
