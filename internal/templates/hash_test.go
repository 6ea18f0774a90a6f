// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

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
	if ofType("datumcloud/d1-standard-2") != ofType("datumcloud-d1-standard-2") ||
		ofType("datumcloud/d1-standard-2") == ofType("datumcloud/d1-standard-4") {
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

// withMemory returns a template whose container has these quantities.
func withMemory(quantities ...string) *v1alpha.InstanceTemplateSpec {
	container := v1alpha.SandboxContainer{
		Name: "app", Image: "one", Resources: &v1alpha.ContainerResourceRequirements{Limits: corev1.ResourceList{}},
	}
	for i, quantity := range quantities {
		container.Resources.Limits[corev1.ResourceName(rune('a'+i))] = resource.MustParse(quantity)
	}
	return &v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{
		Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{container}},
	}}}
}

// TestTheNotationDoesNotCount: whatever internal/apply takes for equal has one hash, and nothing else has.
func TestTheNotationDoesNotCount(t *testing.T) {
	all := []*v1alpha.InstanceTemplateSpec{{}}
	for _, quantity := range []string{
		"33554432", "32Mi", "32768Ki", "33554432000m", "32M", "32000k", "32e6", "1", "1000m", "1k", "1e3", "1000", "1024", "1Ki", "1.5Gi",
		"1536Mi", "1610612736", "0", "0Mi", "1n", "0.5", "500m", "512M", "12345678901234567890", "-32Mi", "-33554432",
	} {
		all = append(all, withMemory(quantity), withMemory(quantity, "1"))
	}
	empty := withMemory()
	empty.Labels, empty.Spec.Volumes, empty.Spec.NetworkInterfaces = map[string]string{}, []v1alpha.InstanceVolume{},
		[]v1alpha.InstanceNetworkInterface{}
	all = append(all, empty, withMemory())
	for i, a := range all {
		for j, b := range all {
			if same, equal := hashOf(t, a) == hashOf(t, b), templates.Equalities.DeepEqual(a, b); same != equal {
				t.Errorf("templates %d and %d: semantically equal: %t, same hash: %t: %+v, %+v", i, j, equal, same, a.Spec.Runtime, b.Spec.Runtime)
			}
		}
	}
}

func hashOf(t *testing.T, template *v1alpha.InstanceTemplateSpec) string {
	t.Helper()
	before := template.DeepCopy()
	hash, err := templates.Hash(template)
	if err != nil || !reflect.DeepEqual(before, template) {
		t.Fatalf("Hash: %v; it changed the template: %t", err, err == nil)
	}
	return hash
}

// TestHashesStay: other versions of the add-on have these hashes of these templates: another one would replace every Instance.
func TestHashesStay(t *testing.T) {
	for quantities, hash := range map[[2]string]string{
		{"64Mi", "250m"}: "340tiqp9hn6js", {"2Gi", "1"}: "1spwf5ihdyrar", {"512M", "2"}: "18isvyiv9og39",
	} {
		v, err := templates.VersionOf(withMemory(quantities[0], quantities[1]))
		if err != nil || v.Hash != hash || !v.Is(hash) || !v.Is("sent-"+hash) || v.Current("sent-"+hash) != hash {
			t.Errorf("%v: the hash is %s, want %s, %v", quantities, v.Hash, hash, err)
		}
		if v.Is("") || v.Is("other") || v.Current("other") != "other" {
			t.Errorf("%v: another template is taken for it", quantities)
		}
	}
}
