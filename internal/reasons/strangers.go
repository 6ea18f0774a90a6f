// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A stranger is a RoleBinding with a subject that is not expected in its namespace.
type stranger struct {
	binding *rbacv1.RoleBinding
	subject rbacv1.Subject
}

// Writers returns the RoleBindings of a namespace by which a subject that is not expected there reads a Secret or writes more
// than the status of an object, each with its namespace. A role without a rule counts, because any may come: Kubernetes gives
// rules to ClusterRoles such as edit.
func Writers(ctx context.Context, hub client.Reader, namespace string, expected func(rbacv1.Subject) bool) ([]string, error) {
	all, err := strangers(ctx, hub, namespace, expected)
	if err != nil {
		return nil, err
	}
	var writers []stranger
	for _, one := range all {
		rules, err := rulesOf(ctx, hub, one.binding)
		if err != nil {
			return nil, fmt.Errorf("read the role of RoleBinding %s/%s: %w", namespace, one.binding.Name, err)
		}
		if len(rules) == 0 || slices.ContainsFunc(rules, harms) {
			writers = append(writers, one)
		}
	}
	return names(writers), nil
}

func strangers(ctx context.Context, hub client.Reader, namespace string, expected func(rbacv1.Subject) bool) ([]stranger, error) {
	var bindings rbacv1.RoleBindingList
	if err := hub.List(ctx, &bindings, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the RoleBindings in namespace %s of the hub: %w", namespace, err)
	}
	var strange []stranger
	for i := range bindings.Items {
		for _, subject := range bindings.Items[i].Subjects {
			if !expected(subject) {
				strange = append(strange, stranger{&bindings.Items[i], subject})
				break
			}
		}
	}
	return strange, nil
}

// rulesOf returns the rules of the role of a RoleBinding; none where there is no such role, or no rule in it yet.
func rulesOf(ctx context.Context, hub client.Reader, binding *rbacv1.RoleBinding) ([]rbacv1.PolicyRule, error) {
	if binding.RoleRef.Kind == "ClusterRole" {
		var role rbacv1.ClusterRole
		err := hub.Get(ctx, client.ObjectKey{Name: binding.RoleRef.Name}, &role)
		return role.Rules, client.IgnoreNotFound(err)
	}
	var role rbacv1.Role
	err := hub.Get(ctx, client.ObjectKey{Namespace: binding.Namespace, Name: binding.RoleRef.Name}, &role)
	return role.Rules, client.IgnoreNotFound(err)
}

// harms reports whether a rule lets a subject read Secrets, or write anything but the status of an object. To read another
// subresource may be to act, such as to get pods/exec.
func harms(rule rbacv1.PolicyRule) bool {
	writes := slices.ContainsFunc(rule.Verbs, func(verb string) bool {
		return !slices.Contains([]string{"get", "list", "watch"}, verb)
	})
	return slices.ContainsFunc(rule.Resources, func(resource string) bool {
		if strings.Contains(resource, "/") {
			return !strings.HasSuffix(resource, "/status")
		}
		return writes || resource == "secrets" || resource == rbacv1.ResourceAll
	})
}

func names(strange []stranger) []string {
	var names []string
	for _, one := range strange {
		names = append(names, fmt.Sprintf("%s/%s (%s %s)", one.binding.Namespace, one.binding.Name, one.subject.Kind, one.subject.Name))
	}
	return names
}
