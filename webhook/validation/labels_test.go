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
