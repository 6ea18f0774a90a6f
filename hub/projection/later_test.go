// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestEchoesWait: the event of a projected Instance requests its deployment, but not before the cache has caught up.
func TestEchoesWait(t *testing.T) {
	t.Parallel()
	clock := testingclock.NewFakeClock(time.Unix(1000, 0))
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request](),
		workqueue.TypedRateLimitingQueueConfig[mcreconcile.Request]{Clock: clock})
	defer q.ShutDown()
	deployment := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid"}}
	instance := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web-0", OwnerReferences: []metav1.OwnerReference{deployment.ControllerReference()},
	}}
	ofInstance(false)("north", nil).Create(t.Context(), event.TypedCreateEvent[client.Object]{Object: instance}, q)
	for !clock.HasWaiters() {
		if t.Context().Err() != nil {
			t.Fatal("nothing waits")
		}
	}
	if q.Len() != 0 {
		t.Error("it is requested at once")
	}
	clock.Step(echo)
	if got, _ := q.Get(); got.Name != "web" || got.ClusterName != "north" {
		t.Errorf("requested is %+v", got)
	}
}
