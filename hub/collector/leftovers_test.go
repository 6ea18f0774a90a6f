// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestLeftovers: a replica requests the leftovers of copies even if it has seen none of their events.
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
		"a copy without its original": {change: deleteOriginal, want: true},
		"a copy without its original, of a project that another replica has": {change: func(t *testing.T, f *deploymentsFixture) {
			deleteOriginal(t, f)
			f.reconciler.Projects = disengaged{f.Planes}
		}},
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
			// Other tests, which run in parallel, use a project with the same name.
			got, err := f.reconciler.findLeftovers(t.Context(), &path.Events{Hub: f.Hub})
			if err != nil || slices.Contains(got, f.request()) != test.want {
				t.Errorf("requested is %v, %v", got, err)
			}
		})
	}
}

func deleteOriginal(t *testing.T, f *deploymentsFixture) {
	t.Helper()
	planes.Delete(t, f.Planes, f.original)
}

// TestUnusedNamespace: a hub namespace without copies is found, unless a deployment of the project names it, and
// deleted.
func TestUnusedNamespace(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	request := mcreconcile.Request{
		ClusterName: planes.ProjectName, Request: reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.Namespace.Name}},
	}
	isFound := func() bool {
		t.Helper()
		all, err := f.reconciler.findLeftovers(t.Context(), &path.Events{Hub: f.Hub})
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(all, request)
	}
	if isFound() {
		t.Error("found with a copy in it")
	}
	planes.Delete(t, f.Planes, f.copied)
	if isFound() {
		t.Error("found although its deployment is not propagated yet")
	}
	deleteOriginal(t, f)
	if !isFound() {
		t.Error("not found")
	}
	if _, err := f.reconciler.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if planes.Get(t, f.Planes, "", f.HubNamespace, &corev1.Namespace{}).DeletionTimestamp.IsZero() || isFound() {
		t.Error("the namespace stays, or is found again")
	}
}

// TestCopyWithoutOriginal is deleted with its hub namespace, and not before the project itself has said that it has no
// original.
func TestCopyWithoutOriginal(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	f.Project.Once("get", "WorkloadDeployment", func() error {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "workloaddeployments"}, "web")
	})
	f.audit(t)
	if !planes.Get(t, f.Planes, f.HubNamespace, "web", &v1alpha.WorkloadDeployment{}).DeletionTimestamp.IsZero() {
		t.Error("the copy is deleted because the cache is behind")
	}
	deleteOriginal(t, f)
	f.audit(t)
	if planes.Exists(t, f.Planes, f.copied) || planes.Get(t, f.Planes, "", f.HubNamespace, &corev1.Namespace{}).DeletionTimestamp.IsZero() {
		t.Error("the copy or its hub namespace stays")
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

// waker holds the projects that were woken.
type waker map[string]bool

// Wake records the project.
func (w waker) Wake(project string) { w[project] = true }

// disengaged is a replica without engaged projects.
type disengaged struct{ *planes.Planes }

// Get finds nothing.
func (disengaged) Get(context.Context, multicluster.ClusterName) (cluster.Cluster, error) {
	return nil, multicluster.ErrClusterNotFound
}
