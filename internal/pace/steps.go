// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Step is one step of a reconcile.
type Step func(context.Context) error

// Runner runs the steps of one reconcile. The zero value is ready for use, by one goroutine.
type Runner struct {
	// RequeueAfter is when the object is reconciled again without an event.
	RequeueAfter After
}

// conflictRequeue is when an object is reconciled again after a conflict: the cache has caught up by then.
const conflictRequeue = time.Second

// Run runs steps in their order until one fails, and returns the result of the reconcile.
//
// A write that fails because its object is gone or has changed ends the reconcile without an error: the cache was out
// of date. After a conflict the object is requeued: a controller that ignores some changes may get no event of the one
// that caused it.
func (r *Runner) Run(ctx context.Context, steps ...Step) (reconcile.Result, error) {
	for _, step := range steps {
		err := step(ctx)
		if apierrors.IsConflict(err) {
			r.RequeueAfter.AtMost(conflictRequeue)
			break
		}
		if apierrors.IsNotFound(err) {
			break
		}
		if err != nil {
			return reconcile.Result{}, err
		}
	}
	return r.RequeueAfter.Result(), nil
}
