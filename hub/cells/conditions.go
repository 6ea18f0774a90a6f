// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"
	"maps"
	"slices"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// conditions writes conditions of Clusters.
type conditions struct {
	hub client.Client
	// reader reads the API server: the cache has not all of a Cluster.
	reader client.Reader
	// clock gives conditions their transition times.
	clock clock.PassiveClock
}

// write sets the conditions of a Cluster, and removes the conditions that are nil. It writes only if a condition changes. After a
// conflict with Karmada, which writes the same status, Karmada's write requeues the Cluster.
func (c conditions) write(ctx context.Context, cluster *clusterv1alpha1.Cluster, wanted map[string]*metav1.Condition) error {
	if !c.set(cluster.DeepCopy(), wanted) {
		return nil
	}
	live := &clusterv1alpha1.Cluster{}
	if err := c.reader.Get(ctx, client.ObjectKeyFromObject(cluster), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.UID != cluster.UID || !c.set(live, wanted) {
		return nil
	}
	if err := c.hub.Status().Update(ctx, live); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write conditions %s of Cluster %s: %w", slices.Sorted(maps.Keys(wanted)), cluster.Name, err)
	}
	return nil
}

// set sets the conditions in a Cluster, and reports whether one has changed.
func (c conditions) set(cluster *clusterv1alpha1.Cluster, wanted map[string]*metav1.Condition) bool {
	differs := false
	for kind, condition := range wanted {
		if condition == nil {
			differs = meta.RemoveStatusCondition(&cluster.Status.Conditions, kind) || differs
			continue
		}
		condition.LastTransitionTime = metav1.NewTime(c.clock.Now())
		differs = meta.SetStatusCondition(&cluster.Status.Conditions, *condition) || differs
	}
	return differs
}
