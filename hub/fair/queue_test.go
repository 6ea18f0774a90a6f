// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

func named(project multicluster.ClusterName, name string) mcreconcile.Request {
	return mcreconcile.Request{ClusterName: project, Request: reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}}
}

// TestAProjectThatHangsDoesNotHoldEveryWorker: at most the allowed number of objects of a slow project are reconciled
// at once; other projects proceed. The others of the slow project follow as its workers become free, each once, the
// longest waiting first.
func TestAProjectThatHangsDoesNotHoldEveryWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue, ok := NewQueue(2)("test",
			workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]()).(priorityqueue.PriorityQueue[mcreconcile.Request])
		if !ok {
			t.Fatal("controllers would not use its priorities")
		}
		got := make(chan mcreconcile.Request, 10)
		for range 4 {
			go func() {
				for {
					request, shutdown := queue.Get()
					if shutdown {
						return
					}
					got <- request
				}
			}()
		}
		running := func(want ...string) {
			t.Helper()
			synctest.Wait()
			var names []string
			for len(got) > 0 {
				names = append(names, (<-got).Name)
			}
			if slices.Sort(names); !slices.Equal(names, want) {
				t.Errorf("started are %v, want %v", names, want)
			}
		}
		for i := range 4 {
			queue.Add(named("slow", fmt.Sprint(i)))
			synctest.Wait()
		}
		queue.Add(named("fast", "other"))
		running("0", "1", "other")
		// An event of a waiting object needs no reconcile of its own; an event of a running object does.
		queue.Add(named("slow", "2"))
		queue.Add(named("slow", "1"))
		running()
		queue.Done(named("slow", "0"))
		running("2")
		queue.Done(named("slow", "2"))
		running("3")
		queue.Done(named("slow", "1"))
		running("1")
		queue.Done(named("slow", "1"))
		queue.Done(named("slow", "3"))
		queue.Done(named("fast", "other"))
		running()
		if q, ok := queue.(*projectQueue); !ok || len(q.running) != 0 || len(q.waiting) != 0 {
			t.Errorf("left are %+v", queue)
		}
		queue.ShutDown()
	})
}
