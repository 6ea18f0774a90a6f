// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// CheckBytesOfAnInstance prints the bytes that an API server stores for an Instance, for templates of several sizes,
// and checks that the rest of the object, apart from its template, holds no more than the names of the template's
// parts. store stores an Instance of a template with these variables, and returns both.
func CheckBytesOfAnInstance(
	t *testing.T, store func(t *testing.T, env []corev1.EnvVar) (*v1alpha.InstanceTemplateSpec, *v1alpha.Instance),
) {
	t.Helper()
	for _, size := range []struct{ variables, bytes int }{{1, 512}, {1, 32 << 10}, {512, 32}} {
		t.Run(fmt.Sprintf("%d of %d bytes", size.variables, size.bytes), func(t *testing.T) {
			var env []corev1.EnvVar
			for i := range size.variables {
				env = append(env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: strings.Repeat("x", size.bytes)})
			}
			template, stored := store(t, env)
			own, all, fields := Bytes(t, template), Bytes(t, stored), Bytes(t, stored.ManagedFields)
			t.Logf("a template of %d bytes in %d variables: %d bytes, of which %d are managed fields", own, size.variables, all, fields)
			if all-own > 4096 {
				t.Errorf("an Instance has %d bytes beside its template", all-own)
			}
		})
	}
}

// Bytes returns the length of a value in JSON.
func Bytes(t testing.TB, value any) int {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}
