// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

var (
	// broadRoles are the ClusterRoles to which Karmada adds rights to its own kinds, and the one that has every right.
	broadRoles = []string{"edit", "admin", "cluster-admin", "karmada-edit"}
	// consumerRoles are the add-on's ClusterRoles for consumers.
	consumerRoles = []string{"karmada-compute-consumer", "karmada-compute-viewer"}
	// karmadaGroups are the groups of the kinds on which Karmada acts with its own rights.
	karmadaGroups = []string{"policy.karmada.io", "work.karmada.io", "networking.karmada.io", rbacv1.APIGroupAll}
	// readVerbs change nothing.
	readVerbs = []string{"get", "list", "watch"}
)

// BroadBindings returns the RoleBindings in projects of a hub without Milo that let a consumer use Karmada itself, each
// as namespace/name and its role.
func BroadBindings(ctx context.Context, hub client.Reader) ([]string, error) {
	var projects corev1.NamespaceList
	if err := hub.List(ctx, &projects, client.HasLabels{v1alpha.LabelNamespaceProject}); err != nil {
		return nil, err
	}
	var broad []string
	for i := range projects.Items {
		var bindings rbacv1.RoleBindingList
		if err := hub.List(ctx, &bindings, client.InNamespace(projects.Items[i].Name)); err != nil {
			return nil, err
		}
		for j := range bindings.Items {
			binding := &bindings.Items[j]
			isBroad, err := isBroadRole(ctx, hub, binding)
			if err != nil {
				return nil, err
			}
			if isBroad {
				broad = append(broad, fmt.Sprintf("%s/%s (%s)", binding.Namespace, binding.Name, binding.RoleRef.Name))
			}
		}
	}
	return broad, nil
}

// AboutBroadBindings is a warning about BroadBindings, with the action of the operator.
func AboutBroadBindings(bindings []string) string {
	return fmt.Sprintf("RoleBindings in projects give rights to Karmada's kinds: %s; "+
		"bind ClusterRole karmada-compute-consumer instead, see docs/reference/security.md", Some(bindings))
}

// isBroadRole reports whether the role of a binding may write Karmada's kinds. A role that does not exist may nothing.
func isBroadRole(ctx context.Context, hub client.Reader, binding *rbacv1.RoleBinding) (bool, error) {
	name, rules := binding.RoleRef.Name, []rbacv1.PolicyRule(nil)
	if binding.RoleRef.Kind == "ClusterRole" {
		if slices.Contains(broadRoles, name) || slices.Contains(consumerRoles, name) {
			return slices.Contains(broadRoles, name), nil
		}
		role := &rbacv1.ClusterRole{}
		if err := client.IgnoreNotFound(hub.Get(ctx, client.ObjectKey{Name: name}, role)); err != nil {
			return false, err
		}
		rules = role.Rules
	} else {
		role := &rbacv1.Role{}
		if err := client.IgnoreNotFound(hub.Get(ctx, client.ObjectKey{Namespace: binding.Namespace, Name: name}, role)); err != nil {
			return false, err
		}
		rules = role.Rules
	}
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		writes := slices.ContainsFunc(rule.Verbs, func(verb string) bool { return !slices.Contains(readVerbs, verb) })
		return writes && slices.ContainsFunc(rule.APIGroups, func(group string) bool { return slices.Contains(karmadaGroups, group) })
	}), nil
}
