// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestLabelWarnings: a consumer learns that a label with a domain may not reach the Pods.
func TestLabelWarnings(t *testing.T) {
	warnings := func(labels map[string]string) string {
		return strings.Join(labelWarnings(&v1alpha.InstanceTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}}), "; ")
	}
	if got := warnings(map[string]string{"app": "web", "app.kubernetes.io/name": "web"}); got != "" {
		t.Errorf("ordinary labels: %s", got)
	}
	got := warnings(map[string]string{"a.example/b": "", "c.example/d": "", "e.example/f": "", "g.example/h": "", "app": "web"})
	if !strings.HasPrefix(got, "spec.template.metadata.labels: a.example/b, c.example/d, e.example/f and 1 more: set on the Instances") {
		t.Errorf("labels with domains: %q", got)
	}
}

// TestDeviceWarnings: a device is admitted, because a cell may offer it, and named.
func TestDeviceWarnings(t *testing.T) {
	w := sandbox()
	container(w).Resources = &v1alpha.ContainerResourceRequirements{Limits: resources("example.com/gpu", "1")}
	if got := strings.Join(Warnings(w), "; "); !strings.Contains(got,
		containerPath+"resources.limits[example.com/gpu]: the add-on attaches no devices") {
		t.Errorf("the warnings are %q", got)
	}
	container(w).Resources.Limits = resources("cpu", "1")
	w.Spec.Template.Annotations = map[string]string{annotationDefaultContainer: "app"}
	if got := strings.Join(Warnings(w), "; "); strings.Contains(got, "devices") || strings.Contains(got, annotationDefaultContainer) {
		t.Errorf("the warnings are %q", got)
	}
}
