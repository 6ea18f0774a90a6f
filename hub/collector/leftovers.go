// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// sweepInterval is about how often the hub's cache is searched for leftovers. Events find most of them earlier, but a replica that takes a
// project over gets no event of an object whose owner is gone already.
const sweepInterval = time.Minute

// leftovers is a source of requests for copies without originals, for hub namespaces without copies, and for ResourceBindings and Works
// without copies, in projects that this replica has engaged.
func (r *Deployments) leftovers(events *path.Events) source.TypedSource[mcreconcile.Request] {
	return projects.Sweep{
		For: "leftovers of deployments", Interval: sweepInterval, Jitter: 0.2,
		Find: func(ctx context.Context) ([]mcreconcile.Request, error) { return r.findLeftovers(ctx, events) },
	}.Source()
}

// findLeftovers reads the caches alone.
func (r *Deployments) findLeftovers(ctx context.Context, events *path.Events) ([]mcreconcile.Request, error) {
	var copies v1alpha.WorkloadDeploymentList
	var namespaces corev1.NamespaceList
	var bindings workv1alpha2.ResourceBindingList
	var works workv1alpha1.WorkList
	var errs []error
	for _, list := range []client.ObjectList{&copies, &namespaces, &bindings, &works} {
		errs = append(errs, r.Hub.List(ctx, list, client.UnsafeDisableDeepCopy))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("list copies, hub namespaces, bindings and Works of the hub: %w", err)
	}
	exists, used := sets.New[types.NamespacedName](), sets.New[string]()
	orphans := sets.New[mcreconcile.Request]()
	for i := range copies.Items {
		exists.Insert(client.ObjectKeyFromObject(&copies.Items[i]))
		used.Insert(copies.Items[i].Namespace)
		orphans.Insert(r.withoutOriginal(ctx, &copies.Items[i])...)
	}
	for i := range namespaces.Items {
		if namespace := &namespaces.Items[i]; !used.Has(namespace.Name) && namespace.DeletionTimestamp.IsZero() {
			orphans.Insert(r.ofUnusedNamespace(ctx, namespace)...)
		}
	}
	found := sets.New[mcreconcile.Request]()
	for i := range bindings.Items {
		binding := &bindings.Items[i]
		if !exists.Has(types.NamespacedName{Namespace: binding.Namespace, Name: binding.Spec.Resource.Name}) {
			found.Insert(events.OfBinding(ctx, binding)...)
		}
		found.Insert(r.ofLeftoverSlice(ctx, binding)...)
	}
	for i := range works.Items {
		if source, ours := path.SourceOf(&works.Items[i]); ours && !exists.Has(source.Copy) {
			found.Insert(source.Request())
		}
	}
	return orphans.Insert(r.engaged(ctx, found)...).UnsortedList(), nil
}

// withoutOriginal requests the original of a copy if its project is engaged and does not have it.
func (r *Deployments) withoutOriginal(ctx context.Context, copied *v1alpha.WorkloadDeployment) []mcreconcile.Request {
	requests := projects.OfCopy(ctx, copied)
	project := r.cacheOf(ctx, requests)
	if project == nil || !apierrors.IsNotFound(project.Get(ctx, requests[0].NamespacedName, &v1alpha.WorkloadDeployment{})) {
		return nil
	}
	return requests
}

// ofUnusedNamespace requests the hub namespaces of a project's namespace if this one has no copies, and no deployment of the project names
// it.
func (r *Deployments) ofUnusedNamespace(ctx context.Context, namespace *corev1.Namespace) []mcreconcile.Request {
	requests := projects.NamespaceOfCopy(ctx, namespace)
	project := r.cacheOf(ctx, requests)
	if project == nil {
		return nil
	}
	var originals v1alpha.WorkloadDeploymentList
	requests[0].NamespacedName = types.NamespacedName{Namespace: requests[0].Name}
	err := project.List(ctx, &originals, client.InNamespace(requests[0].Namespace), client.UnsafeDisableDeepCopy)
	if err != nil || slices.ContainsFunc(originals.Items, func(d v1alpha.WorkloadDeployment) bool {
		return d.Annotations[v1alpha.AnnotationHubNamespace] == namespace.Name
	}) {
		return nil
	}
	return requests
}

// cacheOf reads the project of requests from its cache. It is nil if there is no request, or if this replica has not engaged the project.
func (r *Deployments) cacheOf(ctx context.Context, requests []mcreconcile.Request) client.Reader {
	if len(requests) == 0 {
		return nil
	}
	project, err := r.Projects.Get(ctx, requests[0].ClusterName)
	if err != nil {
		return nil
	}
	return project.GetClient()
}

// engaged returns the requests for projects that this replica has engaged. A project with leftovers may have no
// Workloads and not be engaged: it is woken, and the next sweep requests it.
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
