// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package requeue holds the delay after which an object is reconciled again although no event asks for it.
package requeue

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// After is the shortest of the delays that the steps of a reconcile requested. Zero: no step requested one, and the object is not
// requeued.
type After time.Duration

// AtMost shortens the delay to d, which is more than zero.
func (a *After) AtMost(d time.Duration) {
	if *a == 0 || After(d) < *a {
		*a = After(d)
	}
}

// Result is the result of a reconcile without an error.
func (a After) Result() reconcile.Result {
	return reconcile.Result{RequeueAfter: time.Duration(a)}
}
