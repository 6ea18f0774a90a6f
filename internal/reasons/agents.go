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

const (
	// AgentUserPrefix begins the user name of the karmada-agent of a cell, as karmadactl names it.
	AgentUserPrefix = "system:karmada:agent:"
	// AgentGroup is the group of all karmada-agents.
	AgentGroup = "system:karmada:agents"
	// credentials is the namespace of the Secrets with Karmada's credentials for cells.
	credentials = "karmada-cluster"
	// impersonator ends the name of a Secret with Karmada's credential for the requests of users to a cell.
	impersonator = "-impersonator"
)

// IsCredential reports whether a Secret that a Cluster names is the one that karmadactl creates for that Cluster. Karmada
// sends the token in the Secret to the endpoint in the Cluster, and an agent of a cell may create Clusters.
func IsCredential(cluster, namespace, name string, impersonates bool) bool {
	own := cluster
	if impersonates {
		own += impersonator
	}
	// Cluster x-impersonator would name the Secret of x.
	return namespace == credentials && name == own && !strings.HasSuffix(cluster, impersonator)
}

// AgentRole is a ClusterRole by which agents of cells may create Clusters.
type AgentRole struct {
	Name string
	// Agent is the cell whose agent has the role; "": all agents have it.
	Agent string
	// Command removes the right.
	Command string
}

// AgentRoles returns the ClusterRoles by which agents of cells may create Clusters.
func AgentRoles(ctx context.Context, hub client.Reader) ([]AgentRole, error) {
	var bindings rbacv1.ClusterRoleBindingList
	if err := hub.List(ctx, &bindings); err != nil {
		return nil, fmt.Errorf("list the hub's ClusterRoleBindings, for the agents of cells: %w", err)
	}
	var roles []AgentRole
	for i := range bindings.Items {
		binding := &bindings.Items[i]
		for _, subject := range binding.Subjects {
			agent, isUser := strings.CutPrefix(subject.Name, AgentUserPrefix)
			isGroup := subject.Kind == rbacv1.GroupKind && subject.Name == AgentGroup
			if (!isUser || subject.Kind != rbacv1.UserKind) && !isGroup {
				continue
			}
			if isGroup {
				agent = ""
			}
			role := &rbacv1.ClusterRole{}
			if err := hub.Get(ctx, client.ObjectKey{Name: binding.RoleRef.Name}, role); client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("read ClusterRole %s of the agents of cells: %w", binding.RoleRef.Name, err)
			}
			if command := withoutCreate(role); command != "" {
				roles = append(roles, AgentRole{role.Name, agent, command})
			}
		}
	}
	return roles, nil
}

// withoutCreate returns the command that takes the right to create Clusters from a role; "": the role does not have it.
func withoutCreate(role *rbacv1.ClusterRole) string {
	contains := func(list []string, value, all string) bool {
		return slices.Contains(list, value) || slices.Contains(list, all)
	}
	for i, rule := range role.Rules {
		// A creation has no name that a rule could match.
		if len(rule.ResourceNames) > 0 || !contains(rule.APIGroups, "cluster.karmada.io", rbacv1.APIGroupAll) ||
			!contains(rule.Resources, "clusters", rbacv1.ResourceAll) || !contains(rule.Verbs, "create", rbacv1.VerbAll) {
			continue
		}
		verb := slices.Index(rule.Verbs, "create")
		if verb < 0 {
			return "kubectl edit clusterrole " + role.Name
		}
		at := fmt.Sprintf("/rules/%d/verbs/%d", i, verb)
		return fmt.Sprintf(`kubectl patch clusterrole %s --type=json `+
			`-p '[{"op":"test","path":"%s","value":"create"},{"op":"remove","path":"%s"}]'`,
			role.Name, at, at)
	}
	return ""
}

// AboutAgentRoles is a warning about AgentRoles, with the action of the operator.
func AboutAgentRoles(roles []AgentRole) string {
	var names []string
	for _, role := range roles {
		names = append(names, role.Name)
	}
	return fmt.Sprintf("agents of cells may create Clusters after their registration: ClusterRoles %s; Karmada sends a token "+
		"to the endpoint of a Cluster; remove the right: %s", Some(names), roles[0].Command)
}

// StrangersOfCell returns the RoleBindings by which others than Karmada and the agent of a cell have rights in the
// namespace of the cell's Works, which hold every Secret that the cell gets.
func StrangersOfCell(ctx context.Context, hub client.Reader, cell string) ([]string, error) {
	bindings, err := strangers(ctx, hub, "karmada-es-"+cell, func(subject rbacv1.Subject) bool {
		return subject.Kind == rbacv1.UserKind && subject.Name == AgentUserPrefix+cell || IsKarmada(subject)
	})
	return names(bindings), err
}

// IsKarmada reports whether a subject is a component of Karmada or an administrator.
func IsKarmada(subject rbacv1.Subject) bool {
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		return subject.Namespace == "karmada-system" || subject.Namespace == "kube-system"
	case rbacv1.GroupKind:
		return subject.Name == "system:masters"
	default:
		return slices.Contains([]string{"system:admin", "system:kube-controller-manager", "system:kube-scheduler"}, subject.Name)
	}
}
