// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const (
	// citiesRecord is the name of the ConfigMap that exists once the cells of an earlier version of the add-on are
	// confirmed.
	citiesRecord = "karmada-compute-cities"
	// citiesFieldManager is the field manager of the labels that confirm a city.
	citiesFieldManager = client.FieldOwner("karmada-compute-cities")

	// As karmadactl names the users of agents, and what is no agent of a cell.
	agentGenerator   = "system:karmada:agent:rbac-generator"
	agentRenewalRole = "system:karmada:certificatesigningrequest:selfautoapprover"
)

var errBehind = errors.New("the cache does not have the labels of the cells' namespaces yet")

// adopt confirms, once for each hub, the cells of an earlier version of the add-on, which confirmed none: those whose
// city has a policy that names them, and all cells while no agent can write Clusters.
func (c *Cities) adopt(ctx context.Context) error {
	record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: citiesRecord}}
	err := c.APIReader.Get(ctx, client.ObjectKeyFromObject(record), record)
	if err == nil || !apierrors.IsNotFound(err) {
		return err
	}
	var clusters clusterv1alpha1.ClusterList
	if err := c.APIReader.List(ctx, &clusters); err != nil {
		return fmt.Errorf("list the hub's Clusters: %w", err)
	}
	named, err := c.named(ctx)
	if err != nil {
		return err
	}
	// After the Clusters, as in Confirmations.
	agents, err := c.agentsWrite(ctx)
	if err != nil {
		return err
	}
	for i := range clusters.Items {
		name, city := clusters.Items[i].Name, cityOf(&clusters.Items[i])
		confirmed, err := c.isConfirmed(ctx, name, !agents, named[cellOfCity{name, city}])
		if err == nil && confirmed && city != "" {
			err = c.confirm(ctx, name, city, true)
		}
		if err != nil {
			return err
		}
	}
	record.Data = map[string]string{"about": "The cities of cells from before they had to be confirmed are confirmed. Do not delete this."}
	if err := c.Writer.Create(ctx, record, citiesFieldManager); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("record that the cities of cells are confirmed: %w", err)
	}
	return nil
}

// isConfirmed reports whether a cell of before is confirmed: a policy names it, or only Karmada could create its Cluster and write its
// Works.
func (c *Cities) isConfirmed(ctx context.Context, cell string, trusted, named bool) (bool, error) {
	if named || !trusted {
		return named, nil
	}
	strangers, err := reasons.StrangersOfCell(ctx, c.APIReader, cell)
	return len(strangers) == 0, err
}

type cellOfCity struct{ cell, city string }

// named are the cells that the policies of cities name. A policy in another namespace than a hub namespace says
// nothing: it may be anybody's.
func (c *Cities) named(ctx context.Context) (map[cellOfCity]bool, error) {
	var found policyv1alpha1.PropagationPolicyList
	if err := c.APIReader.List(ctx, &found, client.HasLabels{v1alpha.LabelTopologyCity}); err != nil {
		return nil, fmt.Errorf("list the policies of cities: %w", err)
	}
	named := map[cellOfCity]bool{}
	for i := range found.Items {
		if !naming.IsHubNamespace(found.Items[i].Namespace) {
			continue
		}
		placement := &found.Items[i].Spec.Placement
		var names []string
		if placement.ClusterAffinity != nil {
			names = placement.ClusterAffinity.ClusterNames
		}
		for g := range placement.ClusterAffinities {
			names = slices.Concat(names, placement.ClusterAffinities[g].ClusterNames)
		}
		for _, name := range names {
			named[cellOfCity{name, cityOf(&found.Items[i])}] = true
		}
	}
	return named, nil
}

// confirm labels the namespace of a cell's Works with a city, or removes the label if city is "". If adding, a label
// that it has already stays. Without the namespace, which Karmada makes for a new Cluster, nothing happens: it has no
// label either.
func (c *Cities) confirm(ctx context.Context, cluster, city string, adding bool) error {
	namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	key := client.ObjectKey{Name: karmadanames.GenerateExecutionSpaceName(cluster)}
	if err := c.APIReader.Get(ctx, key, namespace); err != nil {
		return client.IgnoreNotFound(err)
	}
	if cityOf(namespace) == city || adding && cityOf(namespace) != "" {
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
