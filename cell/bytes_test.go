// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestBytesOfAnInstance prints what the API server of a cell stores for an Instance, and what of the template it has beside its spec:
// no more than the names of what is in it.
func TestBytesOfAnInstance(t *testing.T) {
	for _, size := range []struct{ variables, bytes int }{{1, 512}, {1, 32 << 10}, {512, 32}} {
		t.Run(fmt.Sprintf("%d of %d bytes", size.variables, size.bytes), func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(1, func(d *v1alpha.WorkloadDeployment) {
				for i := range size.variables {
					container := &d.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
					container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: strings.Repeat("x", size.bytes)})
				}
			})
			f.reconcile(f.deployments(), "web")
			stored := f.storedInstance("web-0")
			template, all, fields := encoded(t, deployment.Spec.Template), encoded(t, stored), encoded(t, stored.ManagedFields)
			t.Logf("a template of %d bytes in %d variables: %d bytes, of which %d are managed fields", template, size.variables, all, fields)
			if all-template > 4096 {
				t.Errorf("an Instance has %d bytes beside its template", all-template)
			}
		})
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
