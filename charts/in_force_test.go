// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var probes atomic.Int64

// install applies objects, and waits until they are in force.
func install(t testing.TB, c client.Client, objects []*unstructured.Unstructured) {
	t.Helper()
	apply(t, c, objects)
	awaitInForce(t, c)
}

// awaitInForce waits until the API server answers by all policies and roles that were written or deleted before. It
// reads each kind from a cache, in the order of the writes: when it answers by the last object of each kind, it answers
// by all of them.
func awaitInForce(t testing.TB, admin client.Client) {
	t.Helper()
	name := fmt.Sprintf("in-force-%d", probes.Add(1))
	bound, unbound := name+"-bound", name+"-namespaced"
	for _, object := range probe(name, bound, unbound) {
		ensure(t, admin, object)
		defer unregister(t, admin, object)
	}
	for _, user := range []string{bound, unbound} {
		c := unprivileged(t, user)
		await(t, "policies and roles are not in force", func() bool {
			err := create(configMap("default", name))(t.Context(), c)
			return err != nil && strings.Contains(err.Error(), "denied request: "+name)
		})
	}
}

// probe are a policy that refuses the creation of one ConfigMap, and roles by which two users may ask for it.
func probe(name, bound, namespaced string) []client.Object {
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}}}
	user := func(name string) []rbacv1.Subject {
		return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	}
	reference := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	const group = "admissionregistration.k8s.io/v1"
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: named("", name), Rules: rules},
		&rbacv1.ClusterRoleBinding{ObjectMeta: named("", name), RoleRef: reference("ClusterRole"), Subjects: user(bound)},
		&rbacv1.Role{ObjectMeta: named("default", name), Rules: rules},
		&rbacv1.RoleBinding{ObjectMeta: named("default", name), RoleRef: reference("Role"), Subjects: user(namespaced)},
		ofKind(group, "ValidatingAdmissionPolicy", "", name, map[string]any{
			"failurePolicy": "Fail",
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"}, "operations": []any{"CREATE"},
				"resourceNames": []any{name},
			}}},
			"validations": []any{map[string]any{"expression": "false", "message": name}},
		}),
		ofKind(group, "ValidatingAdmissionPolicyBinding", "", name, map[string]any{
			"policyName": name, "validationActions": []any{"Deny"},
		}),
	}
}
