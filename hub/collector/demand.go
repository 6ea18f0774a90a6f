// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

const (
	// demandInterval is the time between two looks while a deployment lacks capacity: nodes may have come.
	demandInterval = 10 * time.Second
	// cacheLag is longer than the hub's cache needs for a binding that was written.
	cacheLag = time.Minute
)

// demandKey is the key of the work of Demand. No cell has this name.
var demandKey = naming.CellKey("/demand")

// Demand gives Instances for which Karmada finds no capacity to cells of their city whose nodes come on demand: no node comes
// before a Pod waits for one. One replica does it for the whole hub, so that all count what it has given.
type Demand struct {
	// Existence reports whether this replica does it.
	Existence projects.Existence
	// Hub reads the hub from a cache, with the settings of operators alone, and writes to it.
	Hub client.Client
	// APIReader reads the hub's API server.
	APIReader client.Reader
	// Clock measures how long ago a binding was written.
	Clock clock.PassiveClock

	// given are the bindings that were written lately. The controller has one worker.
	given map[types.NamespacedName]given
}

// given is the division of a binding that was written.
type given struct {
	clusters []workv1alpha2.TargetCluster
	at       time.Time
}

// room is a cell whose nodes come on demand, with the Instances that wait there. At most most may.
type room struct {
	cell          string
	waiting, most int32
}

// Register adds the controller to a manager of the hub.
func (d *Demand) Register(mgr ctrl.Manager, cities *cells.Cities) error {
	look := func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{{}} }
	return ctrl.NewControllerManagedBy(mgr).Named("collector-demand").
		Watches(&workv1alpha2.ResourceBinding{}, handler.EnqueueRequestsFromMapFunc(look), builder.WithPredicates(path.RefusalChanged())).
		Watches(&clusterv1alpha1.Cluster{}, handler.EnqueueRequestsFromMapFunc(look), builder.WithPredicates(cells.HealthChanged())).
		WatchesRawSource(cells.Watch(cities, look)).
		WithOptions(controller.Options{NeedLeaderElection: new(false), MaxConcurrentReconciles: 1}).
		Complete(d)
}

// Reconcile handles all deployments that lack capacity, the longest wait first.
func (d *Demand) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	rooms, err := d.rooms(ctx)
	if err != nil || len(rooms) == 0 {
		return reconcile.Result{}, err
	}
	var bindings workv1alpha2.ResourceBindingList
	if err := d.Hub.List(ctx, &bindings, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list the hub's ResourceBindings: %w", err)
	}
	var divided, refused []*workv1alpha2.ResourceBinding
	for i := range bindings.Items {
		if binding := &bindings.Items[i]; path.IsDivided(binding) {
			divided = append(divided, binding)
			if path.LacksCapacity(binding) {
				refused = append(refused, binding)
			}
		}
	}
	if len(refused) == 0 || !d.Existence.Owns(demandKey) {
		// Another replica may leave.
		return reconcile.Result{RequeueAfter: min(demandInterval, time.Duration(len(refused))*demandInterval)}, nil
	}
	slices.SortStableFunc(refused, func(a, b *workv1alpha2.ResourceBinding) int {
		return path.RefusedSince(a).Compare(path.RefusedSince(b))
	})
	if err := d.count(ctx, divided, rooms); err != nil {
		return reconcile.Result{}, err
	}
	for _, binding := range refused {
		if err := d.give(ctx, client.ObjectKeyFromObject(binding), rooms); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{RequeueAfter: demandInterval}, nil
}

// rooms returns the cells whose nodes come on demand, and that take Instances.
func (d *Demand) rooms(ctx context.Context) (rooms []room, err error) {
	all, err := cells.List(ctx, d.Hub)
	for _, cell := range all {
		if cell.OnDemand == 0 || !cell.Ready || cell.Gone || cell.Cordoned || cell.Agent.Down {
			continue
		}
		live := &clusterv1alpha1.Cluster{} // The cache has no taints.
		if err := d.APIReader.Get(ctx, client.ObjectKey{Name: cell.Name}, live); err != nil {
			return nil, fmt.Errorf("get Cluster %s: %w", cell.Name, err)
		}
		if !slices.ContainsFunc(live.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }) {
			rooms = append(rooms, room{cell: cell.Name, most: cell.OnDemand})
		}
	}
	return rooms, err
}

// count counts the Instances that wait in each cell: it has been given them and does not report them as Ready.
func (d *Demand) count(ctx context.Context, divided []*workv1alpha2.ResourceBinding, rooms []room) error {
	for _, binding := range divided {
		key := client.ObjectKeyFromObject(binding)
		if d.Clock.Since(d.given[key].at) > cacheLag {
			delete(d.given, key)
		}
		for i := range rooms {
			r := &rooms[i]
			waiting := max(replicasIn(binding.Spec.Clusters, r.cell), replicasIn(d.given[key].clusters, r.cell))
			if waiting == 0 {
				continue
			}
			ready, err := path.ReadyIn(ctx, d.Hub, binding, r.cell)
			if err != nil {
				return err
			}
			r.waiting += max(0, waiting-ready)
		}
	}
	return nil
}

// give adds the missing Instances of a deployment to cells, first to the one in which the fewest wait. It moves none: Karmada
// keeps the division that it finds, and tries again to schedule what is still missing.
func (d *Demand) give(ctx context.Context, key types.NamespacedName, rooms []room) error {
	live := &workv1alpha2.ResourceBinding{}
	if err := d.APIReader.Get(ctx, key, live); err != nil || !path.LacksCapacity(live) || !path.IsDivided(live) {
		return client.IgnoreNotFound(err)
	}
	changed, missing := live.DeepCopy(), live.Spec.Replicas
	for i := range live.Spec.Clusters {
		missing -= live.Spec.Clusters[i].Replicas
	}
	slices.SortStableFunc(rooms, func(a, b room) int { return int(a.waiting - b.waiting) })
	for i := range rooms {
		if count := min(missing, rooms[i].most-rooms[i].waiting); count > 0 && admits(live, rooms[i].cell) {
			missing, rooms[i].waiting = missing-count, rooms[i].waiting+count
			changed.Spec.Clusters = with(changed.Spec.Clusters, rooms[i].cell, count)
		}
	}
	if slices.Equal(changed.Spec.Clusters, live.Spec.Clusters) {
		return nil
	}
	// Without it Karmada's scheduler schedules again, and finds that nothing is missing. With it, the refusal would stay.
	delete(changed.Annotations, cells.AnnotationAppliedPlacement)
	clusters := changed.Spec.Clusters
	err := d.Hub.Patch(ctx, changed, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}), repairFieldManager)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // Karmada was faster. A count that is too high is right at the next look.
	}
	if d.given == nil {
		d.given = map[types.NamespacedName]given{}
	}
	// Also after an error: the write may have succeeded.
	d.given[key] = given{clusters, d.Clock.Now()}
	return err
}

// admits reports whether Karmada keeps Instances of a deployment in a cell: its policy names the cell.
func admits(binding *workv1alpha2.ResourceBinding, cell string) bool {
	for _, task := range binding.Spec.GracefulEvictionTasks {
		if task.FromCluster == cell {
			return false
		}
	}
	for _, group := range binding.Spec.Placement.ClusterAffinities {
		if slices.Contains(group.ClusterNames, cell) && !slices.Contains(group.ExcludeClusters, cell) {
			return true
		}
	}
	return false
}

// with returns clusters with more Instances in a cell.
func with(clusters []workv1alpha2.TargetCluster, cell string, count int32) []workv1alpha2.TargetCluster {
	for i := range clusters {
		if clusters[i].Name == cell {
			clusters[i].Replicas += count
			return clusters
		}
	}
	return append(clusters, workv1alpha2.TargetCluster{Name: cell, Replicas: count})
}

func replicasIn(clusters []workv1alpha2.TargetCluster, cell string) int32 {
	for i := range clusters {
		if clusters[i].Name == cell {
			return clusters[i].Replicas
		}
	}
	return 0
}
