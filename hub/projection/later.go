// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// echo is how long the event of a projected Instance waits. Nearly all of these events are echoes of what this controller wrote, and
// the first of them arrives before the cache has the rest of it: a reconcile at once would write some of it again.
const echo = 200 * time.Millisecond

// ownersLater requests the deployment of a projected Instance: one that was edited or deleted by hand is restored.
func ownersLater(name multicluster.ClusterName, project cluster.Cluster) handler.TypedEventHandler[client.Object, mcreconcile.Request] {
	owner := mchandler.EnqueueRequestForOwner(&v1alpha.WorkloadDeployment{}, handler.OnlyControllerOwner())(name, project)
	return handler.TypedFuncs[client.Object, mcreconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[client.Object], q queue) {
			owner.Create(ctx, e, later{q})
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[client.Object], q queue) {
			owner.Update(ctx, e, later{q})
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[client.Object], q queue) {
			owner.Delete(ctx, e, later{q})
		},
	}
}

type queue = workqueue.TypedRateLimitingInterface[mcreconcile.Request]

// later adds to a queue after a delay.
type later struct{ queue }

// Add adds a request after the delay.
func (l later) Add(request mcreconcile.Request) { l.AddAfter(request, echo) }
