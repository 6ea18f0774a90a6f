// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// echo is how long the event of a projected Instance waits. Nearly all of these events are echoes of this controller's
// own writes, and the first of them arrives before the cache has the other writes: an immediate reconcile would repeat
// some of them.
const echo = 200 * time.Millisecond

// ofInstance requests the deployment of a projected Instance, or the slice that has its entry: an Instance that was
// edited or deleted by hand is restored.
func ofInstance(slices bool) mchandler.EventHandlerFunc {
	return func(project multicluster.ClusterName, _ cluster.Cluster) mchandler.EventHandler {
		now := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, instance client.Object) []mcreconcile.Request {
			return requestsForInstance(project, instance, slices)
		})
		return handler.TypedFuncs[client.Object, mcreconcile.Request]{
			CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[client.Object], q queue) {
				now.Create(ctx, e, later{q})
			},
			UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[client.Object], q queue) {
				now.Update(ctx, e, later{q})
			},
			DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[client.Object], q queue) {
				now.Delete(ctx, e, later{q})
			},
		}
	}
}

// requestsForInstance returns the request of the slice that has the entry of an Instance, or of its deployment if that has
// it; slices selects which of the two. An Instance that has lost its owner reference always belongs to its deployment,
// which deletes or adopts it.
func requestsForInstance(project multicluster.ClusterName, instance client.Object, slices bool) []mcreconcile.Request {
	name := instance.GetLabels()[v1alpha.LabelDeploymentName]
	owner := metav1.GetControllerOfNoCopy(instance)
	switch {
	case owner != nil && owner.Kind == v1alpha.KindWorkloadDeployment:
		name = owner.Name
	case owner != nil || name == "":
		return nil
	case !slices:
		return []mcreconcile.Request{requestFor(project, instance.GetNamespace(), name)}
	}
	index, _ := naming.InstanceIndex(name, instance.GetName())
	number, sliced := naming.SliceOf(index)
	if sliced != slices {
		return nil
	}
	if sliced {
		name = naming.SliceName(name, number)
	}
	return []mcreconcile.Request{requestFor(project, instance.GetNamespace(), name)}
}

type queue = workqueue.TypedRateLimitingInterface[mcreconcile.Request]

// later adds to a queue after a delay.
type later struct{ queue }

// Add adds a request after the delay.
func (l later) Add(request mcreconcile.Request) { l.AddAfter(request, echo) }
