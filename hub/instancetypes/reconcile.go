// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instancetypes

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// Reconcile updates the types of one project to the hub's.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := r.Projects.Get(ctx, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	types, err := r.Types.Types(ctx)
	if errors.Is(err, ErrNotServed) {
		// A change of the types requeues the project. Copies remain: the CRD may be missing by mistake.
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	// The read bypasses the cache, which would become an informer in every project.
	if err := makeOffer(ctx, project.GetAPIReader(), project.GetClient(), types); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: resync}, nil
}

// makeOffer updates the types of a project to the hub's, if the project serves the kind.
func makeOffer(ctx context.Context, reader client.Reader, project client.Client, types []v1alpha.InstanceType) error {
	var offered v1alpha.InstanceTypeList
	switch err := reader.List(ctx, &offered); {
	case apierrors.IsNotFound(err):
		log.FromContext(ctx).V(1).Info("The project does not serve InstanceTypes; apply the CRD where the Projects are to offer them there")
		return nil
	case err != nil:
		return fmt.Errorf("list the project's instance types: %w", err)
	}
	return offer(ctx, project, offered.Items, types)
}

// offer writes types that differ, and deletes types that the hub does not have.
func offer(ctx context.Context, project client.Client, offered, types []v1alpha.InstanceType) error {
	var failures []error
	for i := range types {
		existing := v1alpha.FindInstanceType(offered, types[i].Name)
		if existing == nil {
			existing = &v1alpha.InstanceType{}
		}
		stored, err := apply.Exact(ctx, project, FieldManager, existing, trimmed(&types[i]))
		if err == nil {
			err = offerStatus(ctx, project, stored, &types[i])
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	for i := range offered {
		if v1alpha.FindInstanceType(types, offered[i].Name) != nil {
			continue
		}
		if err := project.Delete(ctx, &offered[i], client.Preconditions{UID: &offered[i].UID}); client.IgnoreNotFound(err) != nil {
			failures = append(failures, fmt.Errorf("delete instance type %s of the project: %w", offered[i].Name, err))
		}
	}
	return errors.Join(failures...)
}

// offerStatus copies the status of the original to a copy. A project whose CRD has no status for the kind is skipped.
func offerStatus(ctx context.Context, project client.Client, stored, original *v1alpha.InstanceType) error {
	if stored.Status.DeprecatedAt.Equal(original.Status.DeprecatedAt) {
		return nil
	}
	stored.Status = original.Status
	if err := apply.Status(ctx, project, FieldManager, stored); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("apply the status of instance type %s of the project: %w", stored.Name, err)
	}
	return nil
}

// offerAtVisits offers the types also in projects without a watch: a consumer needs them before the first Workload. It
// runs whenever a project is visited, and requests a visit to all of them soon after the types have changed.
func (r *Reconciler) offerAtVisits(visits projects.Visits) {
	visits.OnVisit(func(ctx context.Context, _ string, project client.Client) error {
		types, err := r.Types.Types(ctx)
		if errors.Is(err, ErrNotServed) {
			return nil
		}
		if err != nil {
			return err
		}
		return makeOffer(ctx, project, project, types)
	})
	var known sync.Once
	r.Types.OnChange(func() {
		// The first answer is no change: a replica that starts must not request a visit to all projects.
		isFirst := false
		known.Do(func() { isFirst = true })
		if !isFirst {
			visits.VisitAll()
		}
	})
}
