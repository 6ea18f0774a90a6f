// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/networks"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// Networks connects the networks of deployments to their cities, as networks.Binder does.
type Networks interface {
	// Bind connects the networks of a deployment to its city, and reports whether all are Ready; nil: the deployment
	// has no networks to wait for.
	Bind(ctx context.Context, project projects.Project, d *v1alpha.WorkloadDeployment) (*v1alpha.WorkloadDeploymentNetworks, error)
	// Trim releases the networks that the template of a deployment does not name any more.
	Trim(ctx context.Context, project projects.Project, d *v1alpha.WorkloadDeployment) error
	// Release releases all networks of a deployment.
	Release(ctx context.Context, project projects.Project, d *v1alpha.WorkloadDeployment) error
}

// bindNetworks connects the networks of the deployment to its city, and reports whether they are Ready. existing is the
// present copy, or an empty one: while the project does not answer, its networks remain. Networks of an earlier
// template remain as long as Instances of it run.
func (s *scope) bindNetworks(ctx context.Context, existing *v1alpha.WorkloadDeployment) (*v1alpha.WorkloadDeploymentNetworks, error) {
	if s.Networks == nil {
		return nil, nil
	}
	found, err := s.Networks.Bind(ctx, s.engaged, s.deployment)
	if err != nil {
		log.FromContext(ctx).Error(err, "Cannot ask the project for the networks of a deployment", "again", networks.BindingRetry)
		s.requeueAfter.AtMost(networks.BindingRetry)
		if existing.Spec.Networks != nil {
			return existing.Spec.Networks, nil
		}
		return &v1alpha.WorkloadDeploymentNetworks{Message: "the project does not answer whether its networks are in the city; retrying"}, nil
	}
	if found == nil {
		return nil, nil
	}
	if !found.Ready {
		s.requeueAfter.AtMost(networks.BindingRetry)
		return found, nil
	}
	if s.deployment.Spec.Partition == nil && upToDate(&s.deployment.Status, s.deployment.Generation) {
		return found, s.Networks.Trim(ctx, s.engaged, s.deployment)
	}
	return found, nil
}

// upToDate reports whether all Instances have the newest template.
func upToDate(status *v1alpha.WorkloadDeploymentStatus, generation int64) bool {
	return status.ObservedGeneration == generation && status.CurrentReplicas == status.DesiredReplicas &&
		status.Replicas == status.DesiredReplicas
}

// releaseNetworks deletes the NetworkBindings of the deployment, whose Instances are gone.
func (s *scope) releaseNetworks(ctx context.Context) error {
	if s.Networks == nil {
		return nil
	}
	return s.Networks.Release(ctx, s.engaged, s.deployment)
}
