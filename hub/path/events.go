// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"bytes"
	"context"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Events request the originals of copies whose path has changed.
type Events struct {
	// Hub reads the hub from a cache.
	Hub client.Reader
	// Karmada reports whether a karmada-controller-manager is running.
	Karmada *KarmadaWatch
	// Cities are the confirmed cities and the settings of cells. Nil: no event of theirs counts.
	Cities *cells.Cities
	// Later is the delay after events that are part of every report: a finding that begins with them counts only after
	// the delay, and most have ended by then.
	Later time.Duration
}

// stepDelay is the delay after steps of a delivery that proceeds. A delivery takes several steps within this time: they
// cost one reconcile, after the cell's report, which has an event of its own.
const stepDelay = 250 * time.Millisecond

type queue = workqueue.TypedRateLimitingInterface[mcreconcile.Request]

// Watch adds the watches of the paths to a controller: of bindings, Works, Clusters and karmada-controller-manager.
func (e *Events) Watch(b *mcbuilder.Builder) *mcbuilder.Builder {
	onHub := []mcbuilder.WatchesOption{mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false)}
	return b.
		Watches(&workv1alpha2.ResourceBinding{}, e.handle(e.OfBinding, bindingChange), onHub...).
		Watches(&workv1alpha1.Work{}, e.handle(OfWork, workChange), onHub...).
		Watches(&clusterv1alpha1.Cluster{}, projects.OnHubEvent(e.ofCluster), append(onHub, mcbuilder.WithPredicates(cells.HealthChanged()))...).
		WatchesRawSource(cells.Watch(e.Cities, e.ofCluster)).
		WatchesRawSource(source.TypedFunc[mcreconcile.Request](func(ctx context.Context, q queue) error {
			e.Karmada.Subscribe(func() {
				for _, request := range e.originals(ctx, func(*v1alpha.WorkloadDeployment) bool { return true }) {
					q.Add(request)
				}
			})
			return nil
		}))
}

// change is the effect of an update on the judgement of a path.
type change int

const (
	// nothing: no field that Judge reads has changed.
	nothing change = iota
	// reported: a report is being delivered.
	reported
	// proceeded: the delivery has taken a step: a finding may have ended, and none has begun.
	proceeded
	// changed: a finding may have begun or ended.
	changed
)

// handle requests the originals of an object, at once or later, depending on the changes of an update.
func (e *Events) handle(
	originals func(context.Context, client.Object) []mcreconcile.Request, compare func(before, after client.Object) change,
) mchandler.EventHandlerFunc {
	add := func(ctx context.Context, q queue, object client.Object, delay time.Duration) {
		for _, request := range originals(ctx, object) {
			q.AddAfter(request, delay)
		}
	}
	return func(multicluster.ClusterName, cluster.Cluster) mchandler.EventHandler {
		return handler.TypedFuncs[client.Object, mcreconcile.Request]{
			CreateFunc: func(ctx context.Context, ev event.CreateEvent, q queue) { add(ctx, q, ev.Object, stepDelay) },
			DeleteFunc: func(ctx context.Context, ev event.DeleteEvent, q queue) { add(ctx, q, ev.Object, 0) },
			UpdateFunc: func(ctx context.Context, ev event.UpdateEvent, q queue) {
				switch compare(ev.ObjectOld, ev.ObjectNew) {
				case nothing:
				case reported:
					add(ctx, q, ev.ObjectNew, e.Later)
				case proceeded:
					add(ctx, q, ev.ObjectNew, stepDelay)
				case changed:
					add(ctx, q, ev.ObjectNew, 0)
				}
			},
		}
	}
}

// OfWork requests the original of the copy that a Work carries.
func OfWork(_ context.Context, object client.Object) []mcreconcile.Request {
	work, ok := object.(*workv1alpha1.Work)
	if !ok {
		return nil
	}
	source, ours := SourceOf(work)
	if !ours {
		return nil
	}
	return []mcreconcile.Request{source.Request()}
}

// OfBinding requests the original of the copy that a binding names, whether the copy exists or not: the hub namespace
// names the project.
func (e *Events) OfBinding(ctx context.Context, object client.Object) []mcreconcile.Request {
	binding, ok := object.(*workv1alpha2.ResourceBinding)
	if !ok || binding.Spec.Resource.Kind != v1alpha.KindWorkloadDeployment {
		return nil
	}
	return requestCopied(ctx, e.Hub, types.NamespacedName{Namespace: binding.Namespace, Name: binding.Spec.Resource.Name})
}

// requestCopied requests an object in a hub namespace by its name in the namespace of the project. It requests nothing if
// the hub namespace is not in the cache: then the namespace is being deleted, or the own event of the object follows.
func requestCopied(ctx context.Context, hub client.Reader, copied types.NamespacedName) []mcreconcile.Request {
	namespace := &corev1.Namespace{}
	if err := hub.Get(ctx, types.NamespacedName{Name: copied.Namespace}, namespace); err != nil {
		return nil
	}
	requests := projects.NamespaceOfCopy(ctx, namespace)
	for i := range requests {
		requests[i].NamespacedName = types.NamespacedName{Namespace: requests[i].Name, Name: copied.Name}
	}
	return requests
}

// ofCluster requests the originals of all copies that are in a cell, or in its city.
func (e *Events) ofCluster(ctx context.Context, cell client.Object) []mcreconcile.Request {
	city := naming.CityLabel(cell.GetLabels()[v1alpha.LabelTopologyCity])
	return e.originals(ctx, func(copied *v1alpha.WorkloadDeployment) bool {
		assignment := copied.Spec.Assignment
		return city != "" && copied.Labels[v1alpha.LabelTopologyCity] == city || assignment != nil && assignment.Names(cell.GetName())
	})
}

// originals requests the originals of copies. It reads all copies without deep-copying them: it is for rare events that
// concern many copies.
func (e *Events) originals(ctx context.Context, matches func(*v1alpha.WorkloadDeployment) bool) []mcreconcile.Request {
	var copies v1alpha.WorkloadDeploymentList
	if err := e.Hub.List(ctx, &copies, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "Cannot list the deployments to reconcile")
		return nil
	}
	var requests []mcreconcile.Request
	for i := range copies.Items {
		if matches(&copies.Items[i]) {
			requests = append(requests, projects.OfCopy(ctx, &copies.Items[i])...)
		}
	}
	return requests
}

// workChange compares two versions of a Work from the cache, trimmed.
func workChange(before, after client.Object) change {
	old, isWork := before.(*workv1alpha1.Work)
	now, stillIs := after.(*workv1alpha1.Work)
	if !isWork || !stillIs {
		return nothing
	}
	applied := func(w *workv1alpha1.Work) bool {
		return meta.IsStatusConditionTrue(w.Status.Conditions, workv1alpha1.WorkApplied)
	}
	sameManifests := slices.EqualFunc(old.Spec.Workload.Manifests, now.Spec.Workload.Manifests, func(a, b workv1alpha1.Manifest) bool {
		return bytes.Equal(a.Raw, b.Raw)
	})
	switch {
	case old.UID != now.UID || old.DeletionTimestamp.IsZero() != now.DeletionTimestamp.IsZero() || applied(old) && !applied(now),
		!sameStatuses(old, now):
		return changed
	case !applied(old) && applied(now):
		return proceeded
	case !sameManifests:
		return reported
	}
	return nothing
}

// bindingChange compares two versions of a binding from the cache, trimmed.
func bindingChange(before, after client.Object) change {
	old, isBinding := before.(*workv1alpha2.ResourceBinding)
	now, stillIs := after.(*workv1alpha2.ResourceBinding)
	if !isBinding || !stillIs {
		return nothing
	}
	switch {
	case old.UID != now.UID || old.DeletionTimestamp.IsZero() != now.DeletionTimestamp.IsZero(),
		controllerOf(old) != controllerOf(now) || old.Spec.Resource.UID != now.Spec.Resource.UID:
		return changed
	case !slices.Equal(old.Spec.Clusters, now.Spec.Clusters):
		return reported
	}
	return nothing
}

// sameStatuses reports whether two versions of a Work, trimmed, have the same report.
func sameStatuses(before, after *workv1alpha1.Work) bool {
	return equality.Semantic.DeepEqual(before.Status.ManifestStatuses, after.Status.ManifestStatuses)
}

// ReportChanged drops updates of Works in whose reports nothing has changed that counts. Neither report is nil in a call
// of same.
func ReportChanged(same func(before, after *Report) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isWork := e.ObjectOld.(*workv1alpha1.Work)
		after, stillIs := e.ObjectNew.(*workv1alpha1.Work)
		if !isWork || !stillIs {
			return false
		}
		x, y := report(before), report(after)
		if x == nil || y == nil {
			return x != y
		}
		return before.UID != after.UID || !same(x, y)
	}}
}
