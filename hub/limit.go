// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

const (
	// busyRetry is the delay before an object is requeued whose project already uses all its workers.
	busyRetry = 200 * time.Millisecond
	// conflictRetry is the delay before an object is requeued that was changed while it was reconciled.
	conflictRetry = 50 * time.Millisecond
	// suspendedRetry is the delay before an object is requeued whose project refuses writes because it is suspended.
	// When the project is resumed, the cells' reports requeue the object earlier.
	suspendedRetry = time.Minute

	// causeSuspended is the cause that Milo gives when it refuses a write in a suspended project. No retry helps until it is resumed.
	causeSuspended metav1.CauseType = "ProjectSuspended"
)

// limitPerProject runs f for at most limit objects of one project at once, and requeues the others. A conflict requeues an
// object too, instead of being counted and logged as an error: another writer came first, and the cache has not received
// its change yet. So does the refusal of a write in a suspended project: no retry
// helps until it is resumed.
func limitPerProject(f mcreconcile.Func, limit int, refusals *Refusals) mcreconcile.Func {
	workers := &workers{limit: limit, running: map[multicluster.ClusterName]int{}}
	return func(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
		if !workers.acquire(request.ClusterName) {
			return reconcile.Result{RequeueAfter: busyRetry}, nil
		}
		defer workers.release(request.ClusterName)
		result, err := f(ctx, request)
		switch {
		case apierrors.IsConflict(err):
			return reconcile.Result{RequeueAfter: conflictRetry}, nil
		case refusals.observe(request.ClusterName, err):
			log.FromContext(ctx).V(1).Info("The project refuses the write, since it is suspended", "after", suspendedRetry, "refusal", err.Error())
			return reconcile.Result{RequeueAfter: suspendedRetry}, nil
		}
		return result, err
	}
}

// workers counts the objects of each project that are being reconciled.
type workers struct {
	limit int

	mu      sync.Mutex
	running map[multicluster.ClusterName]int
}

// acquire returns false if a project already uses all its workers.
func (w *workers) acquire(project multicluster.ClusterName) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[project] >= w.limit {
		return false
	}
	w.running[project]++
	return true
}

func (w *workers) release(project multicluster.ClusterName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[project]--; w.running[project] == 0 {
		delete(w.running, project)
	}
}
