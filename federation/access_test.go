// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

func TestDirectLeadsToTheBalancer(t *testing.T) {
	a := &AddOn{federation: &Federation{pki: newPKI(t)}, balancer: 12345}
	objects, err := decode([]byte(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks:
- name: a
  clientConfig: {service: {name: s, namespace: n, path: /validate, port: 443}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.direct(objects[0]); err != nil {
		t.Fatal(err)
	}
	webhooks, _, err := unstructured.NestedSlice(objects[0].Object, "webhooks")
	if err != nil {
		t.Fatal(err)
	}
	client, ok := webhooks[0].(map[string]any)["clientConfig"].(map[string]any)
	if !ok {
		t.Fatal("no clientConfig")
	}
	if client["url"] != "https://127.0.0.1:12345/validate" || client["caBundle"] == "" || client["service"] != nil {
		t.Errorf("clientConfig is %v", client)
	}
}
