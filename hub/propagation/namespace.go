// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/policies"
)

// ensureNamespace creates or updates the hub namespace, and records its UID. It never adopts an existing namespace:
// such a namespace is the project's only if its labels prove that.
func (s *scope) ensureNamespace(ctx context.Context) error {
	desired := s.desiredNamespace()
	existing, err := s.loadNamespace(ctx, desired)
	switch {
	case err != nil:
		return err
	case !s.origin.Owns(existing, s.namespaceUID):
		s.refuseNamespace(ctx, existing)
		return nil
	case !existing.DeletionTimestamp.IsZero():
		s.blocked = true
		return nil
	}
	s.hubNamespaceUID = existing.UID
	if !apply.MetadataDiffers(existing, desired) {
		return nil
	}
	// The UID protects another namespace of the name from the write.
	desired.UID = existing.UID
	_, err = apply.Object(ctx, s.Hub, FieldManager, desired)
	return err
}

// ensureGrant gives the add-on the right to the ConfigMaps and Secrets of the hub namespace, before anything is written
// there.
func (s *scope) ensureGrant(ctx context.Context) error {
	return s.Grants.Ensure(ctx, s.hubNamespace, s.origin)
}

// loadNamespace reads the hub namespace, or creates it.
func (s *scope) loadNamespace(ctx context.Context, desired *corev1.Namespace) (*corev1.Namespace, error) {
	existing, key := &corev1.Namespace{}, client.ObjectKeyFromObject(desired)
	err := s.Hub.Get(ctx, key, existing)
	if err == nil {
		return existing, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("get the hub namespace: %w", err)
	}
	created := desired.DeepCopy()
	if err = s.Hub.Create(ctx, created, client.FieldOwner(FieldManager)); err == nil {
		return created, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("create the hub namespace: %w", err)
	}
	// The cache does not have it: it is new, or without the labels of the add-on.
	if err := s.APIReader.Get(ctx, key, existing); err != nil {
		return nil, fmt.Errorf("get the hub namespace: %w", err)
	}
	return existing, nil
}

// namespaceEnds is how long a deployment waits for a Ready cell that removes an earlier namespace, while another cell
// of the city could run its Instances. Most cells need a second, and then divide the Instances as usual.
const namespaceEnds = 30 * time.Second

// ensureNamespaceInCells carries the hub namespace into every cell of the city. A cell that has not removed an earlier
// namespace of that name yet delays only itself: if it is not Ready or takes too long, the other cells run the
// Instances.
func (s *scope) ensureNamespaceInCells(ctx context.Context) error {
	hub, err := s.identity.UID(ctx)
	if err != nil {
		return err
	}
	var remaining time.Duration
	isFree := false
	s.owing = nil
	for _, cell := range s.cells {
		ending, err := s.ensureNamespaceWork(ctx, cell.Name, hub)
		if err != nil {
			return err
		}
		if ending == nil {
			isFree = isFree || cell.Ready
			continue
		}
		s.owing = append(s.owing, cell.Name)
		if cell.Ready {
			since := slices.MaxFunc([]time.Time{cell.Since, ending.DeletionTimestamp.Time}, time.Time.Compare)
			remaining = max(remaining, since.Add(namespaceEnds).Sub(s.Clock.Now()))
		}
	}
	if s.blocked = len(s.owing) > 0 && (!isFree || remaining > 0); s.blocked && remaining > 0 {
		s.requeueAfter.AtMost(remaining)
	}
	return nil
}

// ensureNamespaceWork creates or updates the Work of the namespace for a cell. While Karmada removes an earlier
// namespace from the cell, it returns the Work of the earlier namespace, which is being deleted.
func (s *scope) ensureNamespaceWork(ctx context.Context, cell string, hub types.UID) (ending *workv1alpha1.Work, err error) {
	desired, err := s.desiredNamespaceWork(cell, hub)
	if err != nil {
		return nil, err
	}
	existing := &workv1alpha1.Work{}
	upToDate := func() bool { return !apply.MetadataDiffers(existing, desired) && carries(existing, desired) }
	if _, err = s.ensure(ctx, desired, existing, upToDate); err != nil || !s.blocked {
		return nil, err
	}
	s.blocked = false
	return existing, nil
}

// carries reports whether a Work carries the namespaces that a desired one does, and nothing else. Karmada adds metadata
// to manifests, and removes their empty status; another policy that selects namespaces replaces them.
func carries(existing, desired *workv1alpha1.Work) bool {
	stored, wanted := existing.Spec.Workload.Manifests, desired.Spec.Workload.Manifests
	if len(stored) != len(wanted) || ptr.Deref(existing.Spec.SuspendDispatching, false) {
		return false
	}
	for i := range wanted {
		var present, needs corev1.Namespace
		if json.Unmarshal(stored[i].Raw, &present) != nil || json.Unmarshal(wanted[i].Raw, &needs) != nil ||
			!equality.Semantic.DeepDerivative(needs, present) {
			return false
		}
	}
	return true
}

// ensurePolicy creates or updates the policy of the deployment's city that propagates the copy. The API server and
// Karmada's webhook set defaults in fields that are not desired, but not in the placement, which must equal the desired
// one.
func (s *scope) ensurePolicy(ctx context.Context) error {
	city := s.city()
	city.Independent = s.desired.Labels[v1alpha.LabelDependencies] == v1alpha.DependenciesNone
	if err := s.holdAvoidance(ctx, &city); err != nil {
		return err
	}
	desired, existing := policies.CityPolicy(s.hubNamespace, city), &policyv1alpha1.PropagationPolicy{}
	desired.Annotations = s.origin.Annotations()
	placed := func(policy *policyv1alpha1.PropagationPolicy) bool {
		return equality.Semantic.DeepEqual(desired.Spec.Placement, policy.Spec.Placement)
	}
	stored, err := s.ensure(ctx, desired, existing, func() bool {
		return !apply.MetadataDiffers(existing, desired) && equality.Semantic.DeepDerivative(desired.Spec, existing.Spec) && placed(existing)
	})
	if err != nil || s.blocked {
		return err
	}
	s.policy = existing
	if written, ok := stored.(*policyv1alpha1.PropagationPolicy); ok {
		s.policy = written
	}
	if placed(s.policy) {
		return nil
	}
	return apply.Replace(ctx, s.Hub, FieldManager, s.policy, map[string]any{"/spec/placement": desired.Spec.Placement})
}

// deleteCity deletes the policies of the deployment's city, and the Works that carry the namespace into the city's
// cells, if no other deployment needs them.
func (s *scope) deleteCity(ctx context.Context) error {
	needed, err := s.othersNeed(ctx, s.deployment.Spec.CityCode)
	if err != nil || needed {
		return err
	}
	city := naming.CityLabel(s.deployment.Spec.CityCode)
	var cityPolicies policyv1alpha1.PropagationPolicyList
	if err := s.APIReader.List(ctx, &cityPolicies, client.InNamespace(s.hubNamespace),
		client.MatchingLabels{v1alpha.LabelTopologyCity: city}); err != nil {
		return fmt.Errorf("list the city's policies: %w", err)
	}
	for i := range cityPolicies.Items {
		if policy := &cityPolicies.Items[i]; slices.Contains(policies.CityPolicyNames(city), policy.Name) {
			if err := s.deleteOwn(ctx, policy); err != nil {
				return fmt.Errorf("delete the city's policy: %w", err)
			}
		}
	}
	var works workv1alpha1.WorkList
	if err := s.APIReader.List(ctx, &works, client.MatchingLabels{
		v1alpha.LabelHubNamespace: s.hubNamespace,
		v1alpha.LabelTopologyCity: city,
	}); err != nil {
		return fmt.Errorf("list the Works of the namespace: %w", err)
	}
	for i := range works.Items {
		if !projects.IsMarked(&works.Items[i]) {
			continue
		}
		if err := s.deleteOwn(ctx, &works.Items[i]); err != nil {
			return fmt.Errorf("delete the Work of the namespace: %w", err)
		}
	}
	return nil
}

// deleteNamespace deletes the hub namespace if no other deployment needs it.
func (s *scope) deleteNamespace(ctx context.Context) error {
	needed, err := s.othersNeed(ctx, "")
	if err != nil || needed {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.hubNamespace, UID: s.hubNamespaceUID}}
	if err := s.deleteOwn(ctx, namespace); err != nil {
		return fmt.Errorf("delete the hub namespace: %w", err)
	}
	return nil
}

// deleteOwn deletes an object that was read and proved to be the add-on's, but not a later one of its name.
func (s *scope) deleteOwn(ctx context.Context, obj client.Object) error {
	uid := obj.GetUID()
	return client.IgnoreNotFound(s.Hub.Delete(ctx, obj, client.Preconditions{UID: &uid}))
}
