// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"encoding/base64"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// tokenOf is a token for a subject, as an API server issues one.
func tokenOf(subject string) []byte {
	return []byte("e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"`+subject+`"}`)) + ".c2ln")
}

// TestKarmadaIsAnotherUserInACell: the policy in the cells would refuse Karmada's writes, which is not visible before
// the policy exists.
func TestKarmadaIsAnotherUserInACell(t *testing.T) {
	named := func(subjects ...any) map[string]any {
		return nested([]string{"agents", "protection", "karmada"}, subjects)
	}
	tests := map[string]struct {
		token  []byte
		values map[string]any
		// change changes the Cluster.
		change   func(*unstructured.Unstructured)
		wantWarn string
	}{
		"as karmadactl join does": {token: tokenOf("system:serviceaccount:karmada-cluster:karmada-a")},
		"joined with another --cluster-namespace": {
			token:    tokenOf("system:serviceaccount:tenants:karmada-a"),
			wantWarn: "Karmada is system:serviceaccount:tenants:karmada-a in cell a, whom agents.protection.karmada of the values does not name",
		},
		"another account that is named": {
			token:  tokenOf("system:serviceaccount:tenants:karmada-a"),
			values: named(map[string]any{"kind": "ServiceAccount", "namespace": "tenants", "name": "karmada-a"}),
		},
		"another account whose group is named": {
			token:  tokenOf("system:serviceaccount:tenants:karmada-a"),
			values: named(map[string]any{"kind": "Group", "name": "system:serviceaccounts:tenants"}),
		},
		"another account that writers name": {
			token: tokenOf("system:serviceaccount:tenants:karmada-a"),
			values: nested([]string{"agents", "protection", "writers"},
				[]any{map[string]any{"kind": "User", "name": "system:serviceaccount:tenants:karmada-a"}}),
		},
		"the default account, and values that name only another": {
			token: tokenOf("system:serviceaccount:karmada-cluster:karmada-a"), values: named(map[string]any{"kind": "User", "name": "other"}),
			wantWarn: "agents.protection.karmada",
		},
		"without the policy": {
			token: tokenOf("system:serviceaccount:tenants:karmada-a"), values: nested([]string{"agents", "protection", "enabled"}, false),
		},
		"a token that is no ServiceAccount's": {token: []byte("opaque")},
		"pull mode": {
			token: tokenOf("system:serviceaccount:tenants:karmada-a"),
			change: func(c *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(c.Object, "Pull", "spec", "syncMode")
			},
		},
		"no cell of a city": {
			token: tokenOf("system:serviceaccount:tenants:karmada-a"), change: func(c *unstructured.Unstructured) { c.SetLabels(nil) },
		},
		"a Secret that is not there": {
			token: tokenOf("system:serviceaccount:tenants:karmada-a"),
			change: func(c *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(c.Object, "none", "spec", "secretRef", "name")
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "a"}, Data: map[string][]byte{"token": test.token}}
			if err := s.Create(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			cluster := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
				"syncMode": "Push", "secretRef": map[string]any{"namespace": s.namespace, "name": "a"},
			}}}
			cluster.SetName("a")
			cluster.SetLabels(map[string]string{cityLabel: "dfw"})
			if test.change != nil {
				test.change(&cluster)
			}
			run, err := s.options().connect()
			if err != nil {
				t.Fatal(err)
			}
			f := &findings{}
			run.values = test.values
			run.checkCellUsers(t.Context(), f, []unstructured.Unstructured{cluster})
			got := strings.Join(f.warnings, "\n")
			if len(f.failures) > 0 || (got == "") != (test.wantWarn == "") || !strings.Contains(got, test.wantWarn) {
				t.Errorf("failures %v, warnings %q, want %q", f.failures, got, test.wantWarn)
			}
		})
	}
}
