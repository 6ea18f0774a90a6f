// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
	"github.com/karmada-compute/karmada-compute/policies"
)

// ensureNamespace keeps the hub namespace. One that is being deleted is waited for: its end brings the deployment
// back here.
func (p *pass) ensureNamespace(ctx context.Context) error {
	desired := p.desiredNamespace()
	existing := &corev1.Namespace{}
	switch err := p.Hub.Get(ctx, client.ObjectKeyFromObject(desired), existing); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("get the hub namespace: %w", err)
	case !existing.DeletionTimestamp.IsZero():
		p.waiting = true
		return nil
	case !apply.MetadataDiffers(existing, desired):
		return nil
	}
	_, err := apply.Object(ctx, p.Hub, Owner, desired)
	return err
}

// ensureNamespaceInCells carries the hub namespace into every cell of the city.
func (p *pass) ensureNamespaceInCells(ctx context.Context) error {
	if len(p.cells) == 0 {
		return nil
	}
	namespace := &corev1.Namespace{}
	// Live: the owner reference needs the UID of a namespace that may be a moment old.
	if err := p.Live.Get(ctx, client.ObjectKey{Name: p.hubNamespace}, namespace); err != nil {
		return fmt.Errorf("get the hub namespace: %w", err)
	}
	for _, cell := range p.cells {
		if err := p.ensureNamespaceWork(ctx, namespace, cell.name); err != nil || p.waiting {
			return err
		}
	}
	return nil
}

func (p *pass) ensureNamespaceWork(ctx context.Context, namespace *corev1.Namespace, cell string) error {
	desired, err := p.desiredNamespaceWork(namespace, cell)
	if err != nil {
		return err
	}
	existing := &workv1alpha1.Work{}
	switch err := p.Hub.Get(ctx, client.ObjectKeyFromObject(desired), existing); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("get the Work of the namespace for cell %s: %w", cell, err)
	case !existing.DeletionTimestamp.IsZero():
		// Karmada is taking the namespace out of the cell; the end of that brings the deployment back here.
		p.waiting = true
		return nil
	case !apply.MetadataDiffers(existing, desired):
		return nil
	}
	_, err = apply.Object(ctx, p.Hub, Owner, desired)
	return err
}

// ensurePolicy keeps the policy of the deployment's city.
func (p *pass) ensurePolicy(ctx context.Context) error {
	desired := policies.CityPolicy(p.hubNamespace, p.city())
	desired.Annotations = map[string]string{v1alpha.AnnotationProjectName: p.projectName}
	existing := &policyv1alpha1.PropagationPolicy{}
	switch err := p.Hub.Get(ctx, client.ObjectKeyFromObject(desired), existing); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("get the city's policy: %w", err)
	case !existing.DeletionTimestamp.IsZero():
		p.waiting = true
		return nil
	// Derivative: the API server and Karmada's webhook set defaults in what we leave unset. In the placement they do not,
	// and what we leave unset there must not stay.
	case !apply.MetadataDiffers(existing, desired) && equality.Semantic.DeepDerivative(desired.Spec, existing.Spec) &&
		equality.Semantic.DeepEqual(desired.Spec.Placement, existing.Spec.Placement):
		return nil
	}
	_, err := apply.Object(ctx, p.Hub, Owner, desired)
	return err
}

// deleteCity removes the policy of the deployment's city, and the namespace from the city's cells, when no other
// deployment needs them.
func (p *pass) deleteCity(ctx context.Context) error {
	needed, err := p.othersNeed(ctx, p.deployment.Spec.CityCode)
	if err != nil || needed {
		return err
	}
	policy := &policyv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{
		Namespace: p.hubNamespace, Name: policies.CityPolicyName(p.deployment.Spec.CityCode),
	}}
	if err := p.Hub.Delete(ctx, policy); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the city's policy: %w", err)
	}
	var works workv1alpha1.WorkList
	if err := p.Live.List(ctx, &works, client.MatchingLabels{
		v1alpha.LabelHubNamespace: p.hubNamespace,
		v1alpha.LabelTopologyCity: v1alpha.CityLabel(p.deployment.Spec.CityCode),
	}); err != nil {
		return fmt.Errorf("list the Works of the namespace: %w", err)
	}
	for i := range works.Items {
		if err := p.Hub.Delete(ctx, &works.Items[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete the Work of the namespace: %w", err)
		}
	}
	return nil
}

// deleteNamespace removes the hub namespace when no other deployment needs it.
func (p *pass) deleteNamespace(ctx context.Context) error {
	needed, err := p.othersNeed(ctx, "")
	if err != nil || needed {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.hubNamespace}}
	if err := p.Hub.Delete(ctx, namespace); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the hub namespace: %w", err)
	}
	return nil
}
