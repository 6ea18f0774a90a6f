// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// After is the shortest of the delays that the steps of a reconcile requested. Zero: no step requested one, and the
// object is not requeued.
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

// All returns a request for each object of a list, which it reads. Without an answer it logs the error and returns
// none: the next event requests the objects again. A cache fails only while it stops.
func All(ctx context.Context, reader client.Reader, list client.ObjectList, options ...client.ListOption) []reconcile.Request {
	if err := reader.List(ctx, list, options...); err != nil {
		log.FromContext(ctx).Error(err, "Failed to list the objects to reconcile; they are stale until the next event",
			"list", fmt.Sprintf("%T", list))
		return nil
	}
	requests := make([]reconcile.Request, 0, meta.LenList(list))
	_ = meta.EachListItem(list, func(item runtime.Object) error { // the function returns no error, and every list has items
		if object, ok := item.(client.Object); ok {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
		}
		return nil
	})
	return requests
}
