// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"testing"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestChanges: the hub namespaces of a project that is gone are requested, and all hub namespaces when projects are
// acquired.
func TestChanges(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	ctx, end := context.WithCancel(t.Context())
	defer end()
	if err := f.reconciler.changes(ctx, queue); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{f.roster.name, ""} {
		f.roster.change("another")
		f.roster.change(project)
		request, _ := queue.Get()
		if request.Name != f.HubNamespace {
			t.Errorf("%q requests %v", project, request)
		}
		queue.Done(request)
	}
	if queue.Len() > 0 {
		t.Error("more is requested")
	}
}
