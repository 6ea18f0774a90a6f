// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	pace.Runner
	deployment *v1alpha.WorkloadDeployment
	// wanted are the policies of its templates, by name.
	wanted map[string]*networkingv1.NetworkPolicy
	// kept are the names of policies that stay as they are.
	kept map[string]bool
}

// Reconcile keeps the policies of one deployment, and its namespace's policy. The policies of a deleted deployment are
// deleted with it.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{
		Reconciler: r, deployment: &v1alpha.WorkloadDeployment{}, wanted: map[string]*networkingv1.NetworkPolicy{}, kept: map[string]bool{},
	}
	if err := r.Client.Get(ctx, request.NamespacedName, s.deployment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !s.deployment.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	if proved, err := owned.IsCopy(ctx, r.Client, s.deployment); err != nil || !proved {
		return reconcile.Result{RequeueAfter: owned.UnprovenRequeue}, err
	}
	return s.Run(ctx, s.findTemplates, s.ensureTemplatePolicies, s.ensureNamespacePolicy, s.deleteSurplus)
}

func (s *scope) ensureNamespacePolicy(ctx context.Context) error {
	return EnsureNamespacePolicy(ctx, s.Client, s.deployment)
}

// EnsureNamespacePolicy creates the policy of the namespace of a deployment, or corrects it. No Pod may start before it
// exists.
func EnsureNamespacePolicy(ctx context.Context, c client.Client, deployment *v1alpha.WorkloadDeployment) error {
	return ensure(ctx, c, namespacePolicy(deployment.Namespace))
}

// findTemplates finds the policies of the templates that Instances have, and of that which they will have.
func (s *scope) findTemplates(ctx context.Context) error {
	instances, err := owned.Instances(ctx, s.Client, s.deployment)
	if err != nil {
		return err
	}
	versions, err := owned.TemplatesOf(s.deployment, instances)
	if err != nil {
		return err
	}
	found := map[string]bool{versions.Hash: true}
	s.want(versions.Hash, &s.deployment.Spec.Template.Spec)
	if partition := s.deployment.Spec.Partition; partition != nil && !found[versions.Earlier] {
		found[versions.Earlier] = true
		s.want(versions.Earlier, &partition.Template.Spec)
	}
	for i := range instances {
		if hash := instances[i].TemplateHash(); !found[hash] {
			found[hash] = true
			s.want(hash, instances[i].Spec.DeepCopy())
		}
		// The Pod that an Instance had before it was replaced in place has its rules until it is gone.
		s.kept[policyName(s.deployment, observedTemplate(&instances[i]))] = true
	}
	return nil
}

func (s *scope) want(hash string, spec *v1alpha.InstanceSpec) {
	if policy := templatePolicy(s.deployment, hash, spec); policy != nil && hash != "" {
		s.wanted[policy.Name] = policy
	}
}

func (s *scope) ensureTemplatePolicies(ctx context.Context) error {
	for _, policy := range s.wanted {
		if err := ensure(ctx, s.Client, policy); err != nil {
			return err
		}
	}
	return nil
}

// deleteSurplus deletes the policies of templates that no Instance has any more.
func (s *scope) deleteSurplus(ctx context.Context) error {
	var policies networkingv1.NetworkPolicyList
	if err := s.Client.List(ctx, &policies, client.InNamespace(s.deployment.Namespace), client.MatchingLabels(labels())); err != nil {
		return fmt.Errorf("list the network policies of the namespace: %w", err)
	}
	for i := range policies.Items {
		policy := &policies.Items[i]
		if s.wanted[policy.Name] != nil || s.kept[policy.Name] || !metav1.IsControlledBy(policy, s.deployment) {
			continue
		}
		if err := s.Client.Delete(ctx, policy, client.Preconditions{UID: &policy.UID}); err != nil {
			return fmt.Errorf("delete network policy %s: %w", client.ObjectKeyFromObject(policy), err)
		}
	}
	return nil
}

// ensure writes a policy unless it is there as it should be. The Pods that it selects and the connections that it admits to
// them are exactly the desired ones: rules of another party would admit more. Whether and how egress is restricted is the
// business of the cell.
func ensure(ctx context.Context, c client.Client, desired *networkingv1.NetworkPolicy) error {
	existing := &networkingv1.NetworkPolicy{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(desired), existing); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get network policy %s: %w", client.ObjectKeyFromObject(desired), err)
	}
	if slices.Contains(existing.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
		desired.Spec.PolicyTypes = existing.Spec.PolicyTypes
	}
	_, err := apply.Exact(ctx, c, FieldManager, existing, desired, leaveEgress)
	return owned.UnlessEnding(err)
}

func leaveEgress(stored, wanted *networkingv1.NetworkPolicy) { wanted.Spec.Egress = stored.Spec.Egress }
