// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"maps"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/declarative"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// namespaceInCell is a namespace with labels, as Karmada has it.
func namespaceInCell(t *testing.T, labels map[string]string) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: "ns", ResourceVersion: "7", Labels: labels, Finalizers: []string{}},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

// TestStricterPodSecurityStays: Karmada keeps level restricted of a hub namespace in a cell, and no other: not a weaker
// one, and not one of a namespace of others.
func TestStricterPodSecurityStays(t *testing.T) {
	t.Parallel()
	lua := declarative.NewConfigurableInterpreter(nil)
	for _, object := range render(t, parts["hub"]) {
		if id(object) != "ResourceInterpreterCustomization/karmada-compute-namespaces" {
			continue
		}
		var ours configv1alpha1.ResourceInterpreterCustomization
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &ours, true); err != nil {
			t.Fatal(err)
		}
		lua.LoadConfig([]*configv1alpha1.ResourceInterpreterCustomization{&ours})
	}
	hubs := map[string]string{v1alpha.LabelHub: "uid", v1alpha.LabelProject: "cluster-shop"}
	at := func(labels map[string]string, level string) map[string]string {
		result := maps.Clone(labels)
		if result == nil {
			result = map[string]string{}
		}
		if level != "" {
			result[projects.LabelPodSecurity] = level
		}
		return result
	}
	for name, test := range map[string]struct{ wanted, found, want map[string]string }{
		"restricted":               {at(hubs, projects.PodSecurity), at(hubs, "restricted"), at(hubs, "restricted")},
		"privileged":               {at(hubs, projects.PodSecurity), at(hubs, "privileged"), at(hubs, projects.PodSecurity)},
		"a typo":                   {at(hubs, projects.PodSecurity), at(hubs, "Restricted"), at(hubs, projects.PodSecurity)},
		"removed":                  {at(hubs, projects.PodSecurity), at(hubs, ""), at(hubs, projects.PodSecurity)},
		"no labels":                {at(hubs, projects.PodSecurity), nil, at(hubs, projects.PodSecurity)},
		"another's namespace":      {at(nil, "baseline"), at(nil, "restricted"), at(nil, "baseline")},
		"another's without labels": {nil, at(nil, "restricted"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted := namespaceInCell(t, test.wanted)
			got, enabled, err := lua.Retain(wanted.DeepCopy(), namespaceInCell(t, test.found))
			if err != nil || !enabled {
				t.Fatalf("retention is on: %t; %v", enabled, err)
			}
			wanted.SetLabels(test.want)
			if !equality.Semantic.DeepEqual(got.Object, wanted.Object) {
				t.Errorf("got %v\nwant %v", got.Object, wanted.Object)
			}
		})
	}
}
