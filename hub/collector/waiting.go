// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"sync"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/fair"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

const (
	// schedulerLag is the delay before a deployment is scheduled again: Karmada's scheduler has its own cache of Clusters.
	schedulerLag = time.Second
	// triesPerSecond and triesAtOnce bound the deployments that are scheduled again, of all projects together. Projects
	// share them equally.
	triesPerSecond = 10
	triesAtOnce    = 50
	// mostCities bounds the cities whose growth is remembered. Karmada tries again by itself where one is forgotten.
	mostCities = 1024
)

// waits records which deployments found no capacity in their city, and when a cell of each city last got more. It is safe
// for concurrent use. It is in memory: a replica that starts tries every waiting deployment once.
type waits struct {
	clock  clock.PassiveClock
	budget *fair.Budget
	start  time.Time

	mu sync.Mutex
	// grown is when a cell of a city last got more capacity. It is bounded: the label of a Cluster is not confirmed here.
	grown *lru.Cache
	// waiting are the deployments that found no capacity.
	waiting map[mcreconcile.Request]waiting
}

type waiting struct {
	city string
	// tried is when the add-on last had the deployment scheduled; zero: never.
	tried time.Time
}

func newWaits(c clock.PassiveClock) *waits {
	return &waits{
		clock: c, budget: fair.NewBudget(c, triesPerSecond, triesAtOnce), start: c.Now(),
		grown: lru.New(mostCities), waiting: map[mcreconcile.Request]waiting{},
	}
}

// due reports whether the city of a deployment has got more capacity since Karmada last looked for it, and records that
// the deployment waits.
func (r *waits) due(request mcreconcile.Request, city string, refused time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.waiting[request]
	w.city = city
	r.waiting[request] = w
	grown := r.start
	if known, ok := r.grown.Get(city); ok {
		grown, _ = known.(time.Time)
	}
	return grown.After(refused) && grown.After(w.tried)
}

// tried records a try that has succeeded, from the time before it: the city may have grown meanwhile.
func (r *waits) tried(request mcreconcile.Request, began time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.waiting[request]
	w.tried = began
	r.waiting[request] = w
}

func (r *waits) forget(request mcreconcile.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, request)
}

// grow records that a cell of a city has more capacity, and returns the deployments that wait for it.
func (r *waits) grow(city string) []mcreconcile.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grown.Add(city, r.clock.Now())
	var requests []mcreconcile.Request
	for request, w := range r.waiting {
		if w.city == city {
			requests = append(requests, request)
		}
	}
	return requests
}

// watchCapacity adds the watch of Clusters that get more capacity.
func (r *Deployments) watchCapacity(b *mcbuilder.Builder) *mcbuilder.Builder {
	return b.Watches(&clusterv1alpha1.Cluster{},
		func(multicluster.ClusterName, cluster.Cluster) mchandler.EventHandler {
			return handler.TypedFuncs[client.Object, mcreconcile.Request]{
				UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[mcreconcile.Request]) {
					before, isCluster := e.ObjectOld.(*clusterv1alpha1.Cluster)
					after, stillIs := e.ObjectNew.(*clusterv1alpha1.Cluster)
					if isCluster && stillIs && cells.HasMoreCapacity(before, after) {
						r.capacityIn(ctx, cells.NewCell(after).City, q)
					}
				},
			}
		}, mcbuilder.WithEngageWithLocalCluster(true), mcbuilder.WithEngageWithProviderClusters(false))
}

// capacityIn requests the deployments that wait for capacity in a city.
func (r *Deployments) capacityIn(ctx context.Context, city string, q workqueue.TypedRateLimitingInterface[mcreconcile.Request]) {
	if city == "" {
		return
	}
	for _, request := range r.waits.grow(city) {
		if _, err := r.Projects.Get(ctx, request.ClusterName); err != nil {
			r.waits.forget(request) // Another replica has the project.
			continue
		}
		q.AddAfter(request, schedulerLag)
	}
}

// retry triggers another scheduling of a deployment that found no capacity, once after each growth of its city.
// Karmada retries by itself as well, after pauses of up to a quarter of an hour.
func (s *deploymentScope) retry(ctx context.Context, row *path.Row) error {
	if s.deployment == nil || s.copied == nil || path.Refusal(row.Binding) == "" {
		s.waits.forget(s.request)
		return nil
	}
	city := naming.CityLabel(s.copied.Spec.CityCode)
	if !s.waits.due(s.request, city, path.RefusedSince(row.Binding)) {
		return nil
	}
	if wait := s.waits.budget.Take(s.request.ClusterName.String()); wait > 0 {
		s.requeueAfter.AtMost(wait)
		return nil
	}
	began := s.Clock.Now()
	if err := s.refreshBinding(ctx, row.Binding); err != nil {
		return err
	}
	s.waits.tried(s.request, began)
	log.FromContext(ctx).V(1).Info("A cell of the city has more capacity: the deployment is scheduled again", "city", city)
	return nil
}
