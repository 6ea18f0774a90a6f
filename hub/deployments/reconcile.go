// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// Reconcile looks at one Workload of one project.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := r.Projects.Get(ctx, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	p := &pass{
		Reconciler: r,
		client:     project.GetClient(),
		events:     project.GetEventRecorder(string(Owner)),
		workload:   &v1alpha.Workload{},
	}
	if err := p.client.Get(ctx, request.NamespacedName, p.workload); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := p.loadDeployments(ctx); err != nil {
		return reconcile.Result{}, err
	}
	steps := []func(context.Context) error{p.ensureFinalizer, p.loadCities, p.applyDeployments, p.deleteSurplus, p.writeStatus}
	if !p.workload.DeletionTimestamp.IsZero() {
		steps = []func(context.Context) error{p.deleteAll, p.releaseFinalizer}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}

func (p *pass) loadDeployments(ctx context.Context) error {
	var list v1alpha.WorkloadDeploymentList
	if err := p.client.List(ctx, &list, client.InNamespace(p.workload.Namespace),
		client.MatchingLabels{v1alpha.LabelWorkloadUID: string(p.workload.UID)}); err != nil {
		return fmt.Errorf("list the Workload's deployments: %w", err)
	}
	p.existing = make(map[string]*v1alpha.WorkloadDeployment, len(list.Items))
	for i := range list.Items {
		p.existing[list.Items[i].Name] = &list.Items[i]
	}
	return nil
}

func (p *pass) ensureFinalizer(ctx context.Context) error {
	return apply.Metadata(ctx, p.client, Owner, p.workload, metav1.ObjectMeta{Finalizers: []string{v1alpha.FinalizerWorkload}})
}

func (p *pass) loadCities(ctx context.Context) error {
	cities, err := p.Locations.CityCodes(ctx, p.client)
	if err != nil {
		return err
	}
	p.cities = cities
	p.plan = makePlan(p.workload, cities, p.existing)
	return nil
}

func (p *pass) applyDeployments(ctx context.Context) error {
	for _, item := range p.plan.deployments {
		if err := p.applyDeployment(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) applyDeployment(ctx context.Context, desired *v1alpha.WorkloadDeployment) error {
	existing := &v1alpha.WorkloadDeployment{}
	switch err := p.client.Get(ctx, client.ObjectKeyFromObject(desired), existing); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("get deployment %s: %w", desired.Name, err)
	case !sameDeployment(existing, desired):
		p.plan.block(desired, fmt.Sprintf("deployment name %s is taken by placement %q in %s of Workload %q; rename the placement",
			desired.Name, existing.Spec.PlacementName, existing.Spec.CityCode, existing.Spec.WorkloadRef.Name))
		return nil
	case !existing.DeletionTimestamp.IsZero():
		// It is made anew when it is gone; its deletion brings this Workload back here.
		return nil
	case !p.differs(existing, desired):
		return nil
	}
	stored, err := apply.Object(ctx, p.client, Owner, desired)
	if err != nil {
		return err
	}
	if !equality.Semantic.DeepEqual(stored.Spec, desired.Spec) {
		if err := apply.ReplaceSpec(ctx, p.client, Owner, stored, desired.Spec); err != nil {
			return err
		}
	}
	p.existing[stored.Name] = stored
	return nil
}

func (p *pass) differs(existing, desired *v1alpha.WorkloadDeployment) bool {
	return apply.MetadataDiffers(existing, desired) || !equality.Semantic.DeepEqual(existing.Spec, desired.Spec)
}

// deleteSurplus removes deployments whose placement or city the Workload no longer names.
func (p *pass) deleteSurplus(ctx context.Context) error {
	for name, existing := range p.existing {
		if p.plan.wants(existing) {
			continue
		}
		if err := p.deleteDeployment(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) deleteAll(ctx context.Context) error {
	for name := range p.existing {
		if err := p.deleteDeployment(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) deleteDeployment(ctx context.Context, name string) error {
	existing := p.existing[name]
	if !existing.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := p.client.Delete(ctx, existing, client.Preconditions{UID: &existing.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete deployment %s: %w", name, err)
	}
	now := metav1.NewTime(p.Clock.Now())
	existing.DeletionTimestamp = &now
	return nil
}

// releaseFinalizer lets the Workload go when no deployment is left. Each deployment's end brings it back here.
func (p *pass) releaseFinalizer(ctx context.Context) error {
	if len(p.existing) > 0 || !controllerutil.ContainsFinalizer(p.workload, v1alpha.FinalizerWorkload) {
		return nil
	}
	return apply.ReleaseFinalizer(ctx, p.client, Owner, p.workload, v1alpha.FinalizerWorkload)
}
