// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/policies"
)

// findAdopted finds the UID by which the cells know the Workload's Instances of an earlier hub.
func (s *scope) findAdopted(ctx context.Context) (err error) {
	s.adopted, err = s.engaged.AdoptedWorkload(ctx, s.deployment.Spec.WorkloadRef.Name)
	return err
}

// decideCopy loads the hub's copy and computes the desired one.
func (s *scope) decideCopy(ctx context.Context) error {
	hub, err := s.identity.UID(ctx)
	if err != nil {
		return err
	}
	desired := s.desiredCopy(hub)
	desired.Spec.Suspended = s.Suspension.IsSuspended(s.origin.Project)
	existing := s.existing
	if existing == nil {
		if existing, err = s.copyIn(ctx, s.hubNamespace); err != nil {
			return err
		}
	}
	if existing == nil {
		existing = &v1alpha.WorkloadDeployment{}
	}
	reports, err := s.readReports(ctx, existing)
	if err != nil {
		return err
	}
	switch owner := existing.Labels[v1alpha.LabelDeploymentUID]; {
	case !existing.DeletionTimestamp.IsZero():
		s.blocked = true
		return nil
	case owner != "" && owner != string(s.deployment.UID) && !s.adopts(existing):
		// It is the copy of an earlier deployment of this name, whose finalizer was removed by force.
		return s.deleteAndWait(ctx, existing)
	}
	if desired.Spec.Assignment, err = s.assignment(ctx, existing, reports); err != nil {
		return err
	}
	s.divideFloor(existing, desired)
	metered, err := s.metered()
	if err != nil {
		return err
	}
	if desired.Spec.Networks, err = s.bindNetworks(ctx, existing); err != nil {
		return err
	}
	if metered {
		// The copy has a quota from the beginning, so that no Instance starts before hub/quota has answered.
		desired.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{}
	}
	desired.Spec.Slices = slicesFor(desired.Spec.Assignment, highest(existing, reports), existing.Spec.Slices)
	if independent(existing, desired) {
		desired.Labels[v1alpha.LabelDependencies] = v1alpha.DependenciesNone
	}
	s.existing, s.desired = existing, desired
	return describe(desired)
}

// describe annotates a copy for its cells, which may get less than its spec, or another template.
func describe(copied *v1alpha.WorkloadDeployment) (err error) {
	if requires := templates.Requires(&copied.Spec); requires != "" {
		copied.Annotations[v1alpha.AnnotationRequires] = requires
	}
	copied.Annotations[v1alpha.AnnotationIntended], err = templates.Intended(&copied.Spec)
	return err
}

// readReports reads the reports of the cells on the present copy, and gives it the status that they report.
func (s *scope) readReports(ctx context.Context, existing *v1alpha.WorkloadDeployment) (*path.Reports, error) {
	copied := existing
	if copied.UID == "" {
		copied = copied.DeepCopy()
		copied.Namespace, copied.Name = s.hubNamespace, s.deployment.Name
	}
	reports, err := path.ReadReports(ctx, s.Hub, copied)
	if err == nil {
		existing.Status = reports.Status()
	}
	return reports, err
}

// independent reports whether the policy without dependencies propagates the copy. A copy that has had dependencies, or
// that an earlier version created, stays with the other policy: its cells may still have some.
func independent(existing, desired *v1alpha.WorkloadDeployment) bool {
	isNew := existing.UID == ""
	return (isNew || existing.Labels[v1alpha.LabelDependencies] == v1alpha.DependenciesNone) && !templates.HasDependencies(desired)
}

// ensureCopy updates the hub's copy to the original in the project, and reverts other changes.
func (s *scope) ensureCopy(ctx context.Context) error {
	policies.Claim(s.desired, s.policy)
	templates.Keep(&s.existing.Spec, &s.desired.Spec)
	write := apply.Exact[*v1alpha.WorkloadDeployment]
	if s.desired.Spec.Floor != nil || s.existing.Spec.Floor != nil {
		write = apply.ExactVersion
	}
	var err error
	s.copied, err = write(ctx, s.Hub, FieldManager, s.existing, s.desired, leaveQuota)
	return err
}

// metered reports whether Instances of the project need quota.
func (s *scope) metered() (bool, error) {
	if s.Metering == nil {
		return false, nil
	}
	return s.Metering.Metered(s.origin.Project)
}

// leaveQuota keeps the grants of hub/quota. This package decides whether the copy has a quota at all.
func leaveQuota(stored, wanted *v1alpha.WorkloadDeployment) {
	if wanted.Spec.Quota != nil && stored.Spec.Quota != nil {
		wanted.Spec.Quota = stored.Spec.Quota
	}
}

// deleteCopy deletes the hub's copy and waits until it is gone. It reads the API server: with a cache that has not
// received the copy yet, the finalizer would be removed too early.
func (s *scope) deleteCopy(ctx context.Context) error {
	existing := &v1alpha.WorkloadDeployment{}
	err := s.APIReader.Get(ctx, types.NamespacedName{Namespace: s.hubNamespace, Name: s.deployment.Name}, existing)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get the hub's copy: %w", err)
	}
	if !projects.IsMarked(existing) {
		// The add-on did not write it.
		return nil
	}
	return s.deleteAndWait(ctx, existing)
}

func (s *scope) deleteAndWait(ctx context.Context, existing *v1alpha.WorkloadDeployment) error {
	s.blocked = true
	if !existing.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := s.Hub.Delete(ctx, existing, client.Preconditions{UID: &existing.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the hub's copy: %w", err)
	}
	return nil
}
