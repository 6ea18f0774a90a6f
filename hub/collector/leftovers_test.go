// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/test/testenv/planes"
)

// TestLeftovers: a replica asks for what is left of copies, also when it has seen none of their events.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*testing.T, *deploymentsFixture)
		want   bool
	}{
		"nothing":             {change: func(*testing.T, *deploymentsFixture) {}},
		"a binding and Works": {change: func(t *testing.T, f *deploymentsFixture) { planes.Delete(t, f.Planes, f.copied) }, want: true},
		"a binding alone": {change: func(t *testing.T, f *deploymentsFixture) {
			planes.Delete(t, f.Planes, f.copied)
			end(t, f, f.work(t))
		}, want: true},
		"Works alone": {change: func(t *testing.T, f *deploymentsFixture) {
			planes.Delete(t, f.Planes, f.copied)
			end(t, f, f.binding(t))
		}, want: true},
		"those of a project that another replica has": {change: func(t *testing.T, f *deploymentsFixture) {
			planes.Delete(t, f.Planes, f.copied)
			f.reconciler.Projects = disengaged{f.Planes}
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newDeploymentsFixture(t)
			test.change(t, f)
			// The project's name is that of other tests, which run beside this one.
			got, err := f.reconciler.findLeftovers(t.Context(), &path.Events{Hub: f.Hub})
			if err != nil || slices.Contains(got, f.request()) != test.want {
				t.Errorf("requested is %v, %v", got, err)
			}
		})
	}
}

// TestLeftoversAreRequested at once when the controller starts.
func TestLeftoversAreRequested(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	planes.Delete(t, f.Planes, f.copied)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	context.AfterFunc(ctx, queue.ShutDown)
	if err := f.reconciler.leftovers(&path.Events{Hub: f.Hub}).Start(ctx, queue); err != nil {
		t.Fatal(err)
	}
	for {
		request, ended := queue.Get()
		if ended {
			t.Fatal("it was not requested")
		}
		if request == f.request() {
			return
		}
	}
}

// TestLeftoversWakeTheirProject: one without Workloads is not engaged.
func TestLeftoversWakeTheirProject(t *testing.T) {
	f := newDeploymentsFixture(t)
	planes.Delete(t, f.Planes, f.copied)
	f.reconciler.Projects = disengaged{f.Planes}
	woken := waker{}
	f.reconciler.Waker = woken
	requests, err := f.reconciler.findLeftovers(t.Context(), &path.Events{Hub: f.Hub})
	if err != nil || len(requests) > 0 || !woken[planes.ProjectName.String()] {
		t.Errorf("woken are %v, requested %v, %v", woken, requests, err)
	}
}

// waker has the projects that were woken.
type waker map[string]bool

// Wake notes it.
func (w waker) Wake(project string) { w[project] = true }

// disengaged are the projects of a replica that has none.
type disengaged struct{ *planes.Planes }

// Get finds nothing.
func (disengaged) Get(context.Context, multicluster.ClusterName) (cluster.Cluster, error) {
	return nil, multicluster.ErrClusterNotFound
}
