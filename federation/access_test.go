// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"
)

func TestBindingOf(t *testing.T) {
	tests := map[string]struct {
		role          string
		wantKind      string
		wantNamespace string
		wantErr       bool
	}{
		"cluster role": {
			role:     "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}",
			wantKind: "ClusterRoleBinding",
		},
		"role": {
			role:     "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: ns}}",
			wantKind: "RoleBinding", wantNamespace: "ns",
		},
		"role without namespace": {
			role: "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}}", wantErr: true,
		},
		"something else": {role: "{apiVersion: v1, kind: Secret, metadata: {name: r}}", wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			roles, err := decode([]byte(test.role))
			if err != nil {
				t.Fatal(err)
			}
			binding, err := bindingOf(roles[0], "user")
			if (err != nil) != test.wantErr {
				t.Fatalf("error %v, want one: %t", err, test.wantErr)
			}
			if err != nil {
				return
			}
			if binding.GetKind() != test.wantKind || binding.GetNamespace() != test.wantNamespace || binding.GetName() != "r" {
				t.Errorf("binding is %v", binding.Object)
			}
		})
	}
}
