// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// sweepInterval is about how often the hub's cache is searched for ResourceBindings and Works without copies. Events find most of
// them earlier, but a replica that takes a project over gets none of what has neither a copy nor an original.
const sweepInterval = time.Minute

// leftovers is a source of requests for what is left of copies that do not exist, in projects that this replica has engaged.
func (r *Deployments) leftovers(events *path.Events) source.TypedSource[mcreconcile.Request] {
	return projects.Sweep{
		For: "what is left of deployments", Interval: sweepInterval, Jitter: 0.2,
		Find: func(ctx context.Context) ([]mcreconcile.Request, error) { return r.findLeftovers(ctx, events) },
	}.Source()
}

// findLeftovers reads the hub's cache alone.
func (r *Deployments) findLeftovers(ctx context.Context, events *path.Events) ([]mcreconcile.Request, error) {
	var copies v1alpha.WorkloadDeploymentList
	var bindings workv1alpha2.ResourceBindingList
	var works workv1alpha1.WorkList
	var errs []error
	for _, list := range []client.ObjectList{&copies, &bindings, &works} {
		errs = append(errs, r.Hub.List(ctx, list, client.UnsafeDisableDeepCopy))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("list copies, bindings and Works of the hub: %w", err)
	}
	exists := sets.New[types.NamespacedName]()
	for i := range copies.Items {
		exists.Insert(client.ObjectKeyFromObject(&copies.Items[i]))
	}
	found := sets.New[mcreconcile.Request]()
	for i := range bindings.Items {
		binding := &bindings.Items[i]
		if !exists.Has(types.NamespacedName{Namespace: binding.Namespace, Name: binding.Spec.Resource.Name}) {
			found.Insert(events.OfBinding(ctx, binding)...)
		}
	}
	for i := range bindings.Items {
		found.Insert(r.ofLeftoverSlice(ctx, &bindings.Items[i])...)
	}
	for i := range works.Items {
		if source, ours := path.SourceOf(&works.Items[i]); ours && !exists.Has(source.Copy) {
			found.Insert(source.Request())
		}
	}
	return r.engaged(ctx, found), nil
}

// engaged are the requests of projects that this replica has. A project of which something is left may have no Workloads and not be
// engaged: it is woken, and the next sweep requests it.
func (r *Deployments) engaged(ctx context.Context, requests sets.Set[mcreconcile.Request]) []mcreconcile.Request {
	var engaged []mcreconcile.Request
	for request := range requests {
		switch _, err := r.Projects.Get(ctx, request.ClusterName); {
		case err == nil:
			engaged = append(engaged, request)
		case r.Waker != nil:
			r.Waker.Wake(request.ClusterName.String())
		}
	}
	return engaged
}
