// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"fmt"
	"slices"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// recreatedWithin is when a copy without an original is reconciled again whose owner is not gone.
const recreatedWithin = 30 * time.Second

// adopts reports whether the deployment adopts the copy of an earlier one of its name: one of the same Workload,
// placement and city.
func (s *scope) adopts(copied *v1alpha.WorkloadDeployment) bool {
	return copied.Labels[v1alpha.LabelProjectUID] == string(s.origin.ProjectUID) &&
		ownership.WorkloadOf(copied) == s.deployment.Spec.WorkloadRef.UID &&
		copied.Spec.PlacementName == s.deployment.Spec.PlacementName &&
		naming.CityLabel(copied.Spec.CityCode) == naming.CityLabel(s.deployment.Spec.CityCode)
}

// Withdraw deletes from the hub what belonged to a deployment that its project does not have, once that is proved: its
// finalizer was removed by force, or its Workload was deleted before it was recreated. A request without a name is for
// the hub namespaces of a namespace of the project. Withdraw excludes the propagation into the same hub namespace.
func (r *Reconciler) Withdraw(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	s, err := r.newScope(ctx, request)
	if err != nil {
		return reconcile.Result{}, err
	}
	labelled, err := s.labelledNamespaces(ctx, s.Hub)
	if err != nil || len(labelled) == 0 {
		return reconcile.Result{}, err
	}
	// Without an answer of the project its namespace may exist.
	if s.namespaceUID, err = s.origin.NamespaceUID(ctx, s.projectAPI); err != nil && !wire.IsMissing(err, request.Namespace) {
		return reconcile.Result{}, err
	}
	for i := range labelled {
		s.deployment = &v1alpha.WorkloadDeployment{}
		s.deployment.Namespace, s.deployment.Name = request.Namespace, request.Name
		if !labelled[i].DeletionTimestamp.IsZero() || !s.proves(&labelled[i]) {
			continue
		}
		s.hubNamespace, s.hubNamespaceUID, s.copied, s.blocked = labelled[i].Name, labelled[i].UID, nil, false
		if err := s.locked(ctx, s.confirmGone, s.deleteOrphan, s.deleteUnusedCities, s.deleteNamespace); err != nil {
			return reconcile.Result{}, err
		}
	}
	return s.requeueAfter.Result(), nil
}

// confirmGone loads the copy, and waits unless its original is proved gone; without a name, unless the project is
// proved to need neither the unused cities nor, if it has no copy, the hub namespace.
func (s *scope) confirmGone(ctx context.Context) error {
	isUsed, err := s.findUnused(ctx)
	if err != nil {
		return err
	}
	if s.deployment.Name == "" {
		return s.confirmUnused(ctx, isUsed)
	}
	copied := &v1alpha.WorkloadDeployment{}
	key := ownership.Key{
		Project: s.origin.Project, ProjectUID: s.origin.ProjectUID, HubNamespace: s.hubNamespace,
		Deployment: client.ObjectKeyFromObject(s.deployment),
	}
	err = s.Hub.Get(ctx, client.ObjectKey{Namespace: s.hubNamespace, Name: s.deployment.Name}, copied)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the hub's copy: %w", err)
	}
	if err == nil {
		s.copied, key.Copied, key.UID = copied, copied, types.UID(copied.Labels[v1alpha.LabelDeploymentUID])
	} else if isUsed && len(s.unusedCities) == 0 {
		s.blocked = true
		return nil
	}
	answer, err := s.Owners.Verdict(ctx, key)
	if s.blocked = answer.Verdict != ownership.Gone; s.blocked {
		s.requeueAfter.AtMost(recreatedWithin)
	}
	return err
}

// confirmUnused waits unless the project has answered that it has no deployment in the unused cities. A Milo without
// the project answers for an empty one.
func (s *scope) confirmUnused(ctx context.Context, isUsed bool) error {
	cities := s.unusedCities
	if len(cities) == 0 && isUsed {
		s.blocked = true
		return nil
	}
	if len(cities) == 0 {
		cities = []string{""}
	}
	for _, city := range cities {
		answer, err := s.Owners.Verdict(ctx, ownership.Key{
			Project: s.origin.Project, ProjectUID: s.origin.ProjectUID, HubNamespace: s.hubNamespace, City: city,
			Deployment: types.NamespacedName{Namespace: s.deployment.Namespace},
		})
		if s.blocked = answer.Verdict != ownership.Gone; s.blocked {
			s.requeueAfter.AtMost(recreatedWithin)
			return err
		}
	}
	return nil
}

// deleteOrphan deletes the copy, or waits if the copy belongs to another project.
func (s *scope) deleteOrphan(ctx context.Context) error {
	if s.copied == nil {
		return nil
	}
	if s.copied.Labels[v1alpha.LabelProjectUID] != string(s.origin.ProjectUID) {
		s.blocked = true
		return nil
	}
	log.FromContext(ctx).Info("Deleting a copy whose original is gone", "hubNamespace", s.hubNamespace)
	err := s.deleteAndWait(ctx, s.copied)
	// No finalizer depends on this copy, so no step has to wait for its deletion.
	s.blocked = false
	return err
}

// deleteUnusedCities deletes the objects in the hub namespace for cities in which it has no deployment.
func (s *scope) deleteUnusedCities(ctx context.Context) error {
	for _, city := range s.unusedCities {
		s.deployment.Spec.CityCode = city
		if err := s.deleteCity(ctx); err != nil {
			return err
		}
	}
	return nil
}

// findUnused reads from the cache in which cities the hub namespace has policies and no other copy, and reports whether
// it has any other copy. Most requests end here, before Milo and the project are asked: the hub namespace has other
// deployments.
func (s *scope) findUnused(ctx context.Context) (isUsed bool, err error) {
	var copies v1alpha.WorkloadDeploymentList
	var cityPolicies policyv1alpha1.PropagationPolicyList
	for _, list := range []client.ObjectList{&copies, &cityPolicies} {
		if err := s.Hub.List(ctx, list, client.InNamespace(s.hubNamespace), client.HasLabels{v1alpha.LabelTopologyCity}); err != nil {
			return false, fmt.Errorf("list %T in the hub namespace: %w", list, err)
		}
	}
	cities := map[string]bool{}
	for i := range copies.Items {
		if copied := &copies.Items[i]; copied.Name != s.deployment.Name {
			cities[copied.Labels[v1alpha.LabelTopologyCity]] = true
		}
	}
	s.unusedCities = nil
	for i := range cityPolicies.Items {
		if city := cityPolicies.Items[i].Labels[v1alpha.LabelTopologyCity]; !cities[city] && !slices.Contains(s.unusedCities, city) {
			s.unusedCities = append(s.unusedCities, city)
		}
	}
	return len(cities) > 0, nil
}
