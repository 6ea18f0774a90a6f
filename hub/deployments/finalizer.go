// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// ensureFinalizer adds the finalizer, after the first deployments exist: they do not wait for it. Until then, the
// garbage collector or deleteOrphans deletes the deployments of a Workload that is deleted. If the Workload is gone
// already, its new deployments are deleted here. The event of the write requeues the Workload, and after a conflict the
// event of the newer version. The first deployment's event often precedes the finalizer's: the finalizer is then not
// written again.
func (s *scope) ensureFinalizer(ctx context.Context) error {
	if controllerutil.ContainsFinalizer(s.workload, v1alpha.FinalizerWorkload) {
		s.finalizers.arrived(s.request)
		return nil
	}
	s.ended = true
	version := s.workload.ResourceVersion
	if s.finalizers.awaited(s.request, version) {
		return nil
	}
	err := apply.AddMetadata(ctx, s.client, FieldManager, s.workload, metav1.ObjectMeta{Finalizers: []string{v1alpha.FinalizerWorkload}})
	switch {
	case wire.IsMissing(err, s.workload.Name):
		for _, deployment := range s.deployments {
			if err := deleteDeployment(ctx, s.client, deployment); err != nil {
				return err
			}
		}
		return nil
	case apierrors.IsConflict(err):
		return nil
	case err == nil:
		s.finalizers.wrote(s.request, version)
	}
	return err
}

// writtenFinalizers has the Workloads whose finalizer was written and has not arrived in the cache, with the resource
// version before the write: the last ones, since no event follows once another replica has the project. It is safe for
// concurrent use.
type writtenFinalizers struct {
	mu     sync.Mutex
	before *lru.Cache
}

// maxAwaited bounds the finalizers that are awaited. Of others the write may be repeated.
const maxAwaited = 4096

// wrote records that the finalizer was added to a version of a Workload.
func (w *writtenFinalizers) wrote(workload mcreconcile.Request, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.before == nil {
		w.before = lru.New(maxAwaited)
	}
	w.before.Add(workload, version)
}

// awaited reports whether the finalizer was added to this very version: a newer one is stored, and its event follows. A
// newer version without the finalizer has lost it.
func (w *writtenFinalizers) awaited(workload mcreconcile.Request, version string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.before == nil || version == "" {
		return false
	}
	before, _ := w.before.Get(workload)
	return before == version
}

// arrived forgets a Workload that has its finalizer in the cache, or is gone.
func (w *writtenFinalizers) arrived(workload mcreconcile.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.before != nil {
		w.before.Remove(workload)
	}
}
