// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestFootprint: a project is needed until its last hub namespace is gone, and each project is reported once.
func TestFootprint(t *testing.T) {
	t.Parallel()
	f := NewFootprint(nil)
	var told []string
	f.OnChange(func(project string) { told = append(told, project) })
	namespace := func(name, project string) *corev1.Namespace {
		return &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{v1alpha.AnnotationProjectName: project}},
		}
	}
	is := func(when string, needed bool) {
		t.Helper()
		if f.Needed("north") != needed {
			t.Errorf("%s it is needed: %t", when, !needed)
		}
	}
	is("at first", false)
	for range 2 {
		f.observe(namespace("ns-1", "north"))
	}
	f.observe(namespace("ns-2", "north"))
	f.observe(namespace("kube-system", ""))
	is("with two", true)
	f.forget(namespace("ns-1", "north"))
	is("with one", true)
	f.forget(namespace("ns-2", "north"))
	is("with none", false)
	if fmt.Sprint(told) != "[north north]" || f.Needed("") {
		t.Errorf("told of %q", told)
	}
	if f.HasSynced() {
		t.Error("it knows all before it has watched")
	}
	f.forget(toolscache.DeletedFinalStateUnknown{})
}
