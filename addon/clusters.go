// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// ofClusters are the types of the conditions that the replicas write on Clusters.
var ofClusters = []string{
	v1alpha.ConditionComputeAgentReady, v1alpha.ConditionComputeNodesSchedulable, v1alpha.ConditionComputeCityConfirmed,
	v1alpha.ConditionComputeForgotten, v1alpha.ConditionComputeAccessRestricted,
}

// withdrawConditions removes the add-on's conditions from the Clusters of the hub: no replica keeps them true any more.
func (s *session) withdrawConditions(ctx context.Context) error {
	clusters, err := s.hub.list(ctx, "cluster.karmada.io/v1alpha1", "Cluster")
	if err != nil {
		return err
	}
	for i := range clusters {
		cluster := &clusters[i]
		// Karmada writes the same status.
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			if err := s.hub.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
				return err
			}
			changed, err := withoutConditions(cluster)
			if err != nil || !changed {
				return err
			}
			return s.hub.Status().Update(ctx, cluster)
		})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove the conditions of the add-on from %s at %s: %w", describe(cluster), s.hub.name, err)
		}
	}
	return nil
}

// withoutConditions removes the add-on's conditions from a Cluster, and reports whether there were any.
func withoutConditions(cluster *unstructured.Unstructured) (bool, error) {
	found, _, err := unstructured.NestedSlice(cluster.Object, "status", "conditions")
	if err != nil {
		return false, err
	}
	left := slices.DeleteFunc(slices.Clone(found), func(item any) bool {
		condition, _ := item.(map[string]any)
		kind, _ := condition["type"].(string)
		return slices.Contains(ofClusters, kind)
	})
	if len(left) == len(found) {
		return false, nil
	}
	return true, unstructured.SetNestedSlice(cluster.Object, left, "status", "conditions")
}
