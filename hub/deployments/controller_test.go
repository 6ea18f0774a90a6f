// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

type queue = workqueue.TypedRateLimitingInterface[mcreconcile.Request]

func newQueue(t *testing.T) queue {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(queue.ShutDown)
	return queue
}

// TestALocationRequeuesEveryWorkload of its project, in all namespaces.
func TestALocationRequeuesEveryWorkload(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	project, err := f.Get(t.Context(), planes.ProjectName)
	if err != nil {
		t.Fatal(err)
	}
	queue := newQueue(t)
	allWorkloads(planes.ProjectName, project).Create(t.Context(), event.CreateEvent{Object: &corev1.ConfigMap{}}, queue)
	// Other tests have Workloads on this API server.
	for queue.Len() > 0 {
		got, _ := queue.Get()
		if got.Namespace == workload.Namespace && got.Name == workload.Name && got.ClusterName == planes.ProjectName {
			return
		}
	}
	t.Error("the Workload is not requeued")
}
