// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func TestTemplateHash(t *testing.T) {
	base := func() *v1alpha.InstanceTemplateSpec {
		return &v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{
			Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "one"}}},
		}}}
	}
	hash := func(change func(*v1alpha.InstanceTemplateSpec)) string {
		template := base()
		change(template)
		result, err := templates.Hash(template)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	same := hash(func(*v1alpha.InstanceTemplateSpec) {})
	if got := hash(func(s *v1alpha.InstanceTemplateSpec) {
		s.Spec.Location = &v1alpha.LocationReference{Name: "dfw"}
		s.Spec.Controller = &v1alpha.InstanceController{TemplateHash: "x"}
	}); got != same {
		t.Error("what the add-on sets changes the hash")
	}
	ofType := func(name string) string {
		return hash(func(s *v1alpha.InstanceTemplateSpec) { s.Spec.Runtime.Resources.InstanceType = name })
	}
	if ofType("datumcloud/d1-standard-2") != ofType("datumcloud-d1-standard-2") || ofType("datumcloud/d1-standard-2") == ofType("datumcloud/d1-standard-4") {
		t.Error("the spelling of an instance type counts, or the type does not")
	}
	for name, change := range map[string]func(*v1alpha.InstanceTemplateSpec){
		"image": func(s *v1alpha.InstanceTemplateSpec) { s.Spec.Runtime.Sandbox.Containers[0].Image = "two" },
		"label": func(s *v1alpha.InstanceTemplateSpec) { s.Labels = map[string]string{"a": "b"} },
		"restartedAt": func(s *v1alpha.InstanceTemplateSpec) {
			s.Annotations = map[string]string{v1alpha.AnnotationRestartedAt: "now"}
		},
	} {
		if hash(change) == same {
			t.Errorf("a changed %s does not change the hash", name)
		}
	}
}
