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
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// DeploymentsOptions configure Deployments.
type DeploymentsOptions struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Waker engages a project that has leftover objects on the hub. It may be nil.
	Waker projects.Waker
	// Hub reads the hub from a cache and writes to it.
	Hub client.Client
	// APIReader reads the hub's API server: a repair gets its object there before it changes or deletes it.
	APIReader client.Reader
	// Owners decides whether the original of leftover objects is gone.
	Owners *ownership.Owners
	// Withdraw deletes a copy whose original is proved gone, and what no deployment of its hub namespace needs. Only
	// hub/propagation can exclude that it propagates the next deployment at the same time.
	Withdraw func(context.Context, mcreconcile.Request) (reconcile.Result, error)
	// Karmada reports whether a karmada-controller-manager is running.
	Karmada *path.KarmadaWatch
	// Repairer bounds and counts repairs.
	Repairer *repairs.Repairer
	// Book records the findings on the paths of deployments.
	Book *path.Book
	// Interval is the time between two audits of a deployment without events. After is how long a fault must last
	// before it is repaired.
	Interval, After time.Duration
	// Clock measures how long a fault has lasted.
	Clock clock.PassiveClock
}

// Deployments repairs the paths of deployments. It is safe for concurrent use.
type Deployments struct {
	DeploymentsOptions
	waits *waits
}

// NewDeployments returns Deployments.
func NewDeployments(o DeploymentsOptions) *Deployments {
	return &Deployments{DeploymentsOptions: o, waits: newWaits(o.Clock)}
}

// Register adds the controller to a manager.
func (r *Deployments) Register(mgr mcmanager.Manager, options mccontroller.Options, wrap func(mcreconcile.Func) mcreconcile.Func) error {
	events := path.Events{Hub: r.Hub, Karmada: r.Karmada, Later: r.After}
	built, err := r.watchCapacity(events.Watch(mcbuilder.ControllerManagedBy(mgr).
		Named("collector-deployments").
		For(&v1alpha.WorkloadDeployment{}, mcbuilder.WithPredicates(watch.IgnoreStatusUpdates())).
		Watches(&v1alpha.WorkloadDeployment{}, projects.OnHubEvent(projects.OfCopy),
			mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false),
			mcbuilder.WithPredicates(watch.IgnoreStatusUpdates())))).
		WatchesRawSource(r.leftovers(&events)).
		WithOptions(options).
		Build(wrap(r.Reconcile))
	if err != nil {
		return err
	}
	return built.MultiClusterWatch(r.Book.Engagements())
}

// hopeless is the number of repairs after which the consumer is informed.
const hopeless = 5

var faultsDesc = prometheus.NewDesc("karmada_compute_audit_faults",
	"Deployments of this replica's projects whose path to the cells has had a fault for too long, by fault.",
	[]string{"reason"}, nil)

// Faults is the metric of the lasting findings in a Book.
type Faults struct{ Book *path.Book }

// Describe describes the metric.
func (Faults) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- faultsDesc }

// Collect counts the findings.
func (f Faults) Collect(metrics chan<- prometheus.Metric) {
	for fault, count := range f.Book.Faults() {
		metrics <- prometheus.MustNewConstMetric(faultsDesc, prometheus.GaugeValue, float64(count), string(fault))
	}
}

// sweepInterval is about how often the hub's cache is searched for leftovers. Events find most of them earlier, but a
// replica that takes a project over gets no event of an object whose owner is gone already.
const sweepInterval = time.Minute

// leftovers is a source of requests for copies without originals, for hub namespaces without copies, and for
// ResourceBindings and Works without copies, in projects that this replica has engaged.
func (r *Deployments) leftovers(events *path.Events) source.TypedSource[mcreconcile.Request] {
	return projects.Sweep{
		Purpose: "leftovers of deployments", Interval: sweepInterval, Jitter: 0.2,
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

// ofUnusedNamespace requests the hub namespaces of a project's namespace if this one has no copies, and no deployment
// of the project names it.
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

// cacheOf reads the project of requests from its cache. It is nil if there is no request, or if this replica has not
// engaged the project.
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
