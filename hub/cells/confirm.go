// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const (
	// citiesFieldManager is the field manager of the labels that confirm a city.
	citiesFieldManager = client.FieldOwner("karmada-compute-cities")

	// The user and the group of karmadactl's agents that are no agent of a cell.
	agentGenerator   = "system:karmada:agent:rbac-generator"
	agentRenewalRole = "system:karmada:certificatesigningrequest:selfautoapprover"
)

// confirm labels the namespace of a cell's Works with a city, or removes the label if city is "". Karmada creates the namespace for a
// new Cluster: without it there is no label either.
func (c *Cities) confirm(ctx context.Context, cluster, city string) error {
	namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	key := client.ObjectKey{Name: karmadanames.GenerateExecutionSpaceName(cluster)}
	if err := c.APIReader.Get(ctx, key, namespace); err != nil {
		return client.IgnoreNotFound(err)
	}
	if cityOf(namespace) == city {
		return nil
	}
	var value any
	if city != "" {
		value = city
	}
	// The namespace that was read, and no other one of its name, which belongs to another Cluster.
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": namespace.UID, "resourceVersion": namespace.ResourceVersion, "labels": map[string]any{v1alpha.LabelTopologyCity: value},
	}})
	if err != nil {
		return fmt.Errorf("encode the city of cell %s: %w", cluster, err)
	}
	if err := c.Writer.Patch(ctx, namespace, client.RawPatch(types.MergePatchType, patch), citiesFieldManager); err != nil {
		return fmt.Errorf("confirm the city of cell %s: %w", cluster, err)
	}
	return nil
}

// agentsWrite reports whether an agent of a cell may write Clusters. It reads the hub without a cache: an agent has its
// rights before it writes a Cluster, so whoever asks after it has seen a Cluster of an agent knows of the agent.
func (c *Cities) agentsWrite(ctx context.Context) (bool, error) {
	var bindings rbacv1.ClusterRoleBindingList
	if err := c.APIReader.List(ctx, &bindings); err != nil {
		return false, fmt.Errorf("list the hub's ClusterRoleBindings, for the agents of cells: %w", err)
	}
	if slices.ContainsFunc(bindings.Items, bindsAgent) {
		return true, nil
	}
	// Agents with credentials of another form.
	var clusters clusterv1alpha1.ClusterList
	if err := c.APIReader.List(ctx, &clusters); err != nil {
		return false, fmt.Errorf("list the hub's Clusters, for the agents of cells: %w", err)
	}
	return slices.ContainsFunc(clusters.Items, func(cluster clusterv1alpha1.Cluster) bool {
		return cluster.Spec.SyncMode == clusterv1alpha1.Pull
	}), nil
}

// bindsAgent reports whether a binding gives an agent of a cell rights on all of the hub.
func bindsAgent(binding rbacv1.ClusterRoleBinding) bool {
	return slices.ContainsFunc(binding.Subjects, func(subject rbacv1.Subject) bool {
		switch subject.Kind {
		case rbacv1.UserKind:
			return strings.HasPrefix(subject.Name, reasons.AgentUserPrefix) && subject.Name != agentGenerator
		case rbacv1.GroupKind:
			return subject.Name == reasons.AgentGroup && binding.RoleRef.Name != agentRenewalRole
		default:
			return false
		}
	})
}
