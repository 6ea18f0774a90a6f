// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestBytesOfAnInstance prints what an API server of a project stores for an Instance, and what of the template it has beside its spec:
// no more than the names of what is in it.
func TestBytesOfAnInstance(t *testing.T) {
	for _, size := range []struct{ variables, bytes int }{{1, 512}, {1, 32 << 10}, {512, 32}} {
		f := newFixture(t)
		var env []corev1.EnvVar
		for i := range size.variables {
			env = append(env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: strings.Repeat("x", size.bytes)})
		}
		planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Env = env
		})
		f.original = f.readOriginal(t)
		hash, err := v1alpha.TemplateHash(&f.original.Spec.Template)
		if err != nil {
			t.Fatal(err)
		}
		f.report(t, instance("web-0", hash, metav1.ConditionTrue))
		f.mustReconcile(t)
		stored := f.readInstance(t, "web-0")
		template, all, fields, report := encoded(t, f.original.Spec.Template), encoded(t, stored), encoded(t, stored.ManagedFields), encoded(t, f.copied.Status.Reports)
		t.Logf("a template of %d bytes in %d variables: the project stores %d bytes of an Instance, of which %d are managed fields; the hub %d of its report",
			template, size.variables, all, fields, report)
		if all-template > 4096 {
			t.Errorf("an Instance has %d bytes beside its template", all-template)
		}
	}
}

func encoded(t *testing.T, value any) int {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}
