// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
)

// collectorPatience is how long the garbage collector has for Instances whose deployment is gone.
const collectorPatience = time.Minute

// findOrphans finds the projected Instances that nothing shows any more, if their deployment is being deleted or does not exist. The
// Instances of a deployment that is being deleted are left to the garbage collector, except those without an owner, as after a
// deletion with --cascade=orphan.
func (s *scope) findOrphans(ctx context.Context) error {
	if s.deployment.UID != "" && s.deployment.DeletionTimestamp.IsZero() {
		return nil
	}
	instances, err := s.listInstances(ctx)
	for i := range instances {
		switch instance := &instances[i]; {
		case len(instance.OwnerReferences) == 0:
			s.orphans = append(s.orphans, instance)
		case instance.Labels[v1alpha.LabelDeploymentUID] != string(s.deployment.UID) && instance.DeletionTimestamp.IsZero():
			s.leftovers = append(s.leftovers, instance)
		}
	}
	return err
}

// deleteOrphans deletes the orphans that were found. A restore from a backup creates Instances without an owner, too.
func (s *scope) deleteOrphans(ctx context.Context) error {
	for _, orphan := range s.orphans {
		if err := deleteInstance(ctx, s.project, orphan); err != nil {
			return err
		}
	}
	return nil
}

// deleteLeftovers deletes Instances whose deployment is gone, if the garbage collector has not deleted them in time.
func (s *scope) deleteLeftovers(ctx context.Context) error {
	left := s.Clock.Since(s.shared.leftSince(s, len(s.leftovers) > 0, s.Clock.Now()))
	if len(s.leftovers) > 0 && left < collectorPatience {
		s.requeueAfter.AtMost(collectorPatience - left)
		return nil
	}
	present := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.request.Namespace, Name: s.request.Name}}
	gone, err := ownership.Leftovers(ctx, s.cluster.GetAPIReader(), present, s.leftovers, func(i *v1alpha.Instance) []types.UID {
		return []types.UID{types.UID(i.Labels[v1alpha.LabelDeploymentUID])}
	})
	if err != nil {
		return err
	}
	for _, leftover := range gone {
		if err := deleteInstance(ctx, s.project, leftover); err != nil {
			return err
		}
	}
	return nil
}

func deleteInstance(ctx context.Context, project client.Client, instance *v1alpha.Instance) error {
	if !instance.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := project.Delete(ctx, instance, client.Preconditions{UID: &instance.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the projection of Instance %s: %w", instance.Name, err)
	}
	return nil
}
