// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"fmt"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// newHub returns a hub that refuses a change of an object that was deleted and created again, as an API server does. Without this,
// two replicas become owners: the versions of the fake client begin at 1 with each object, so that a late request for the
// earlier object may name the version of the new one by chance.
func newHub() client.WithWatch {
	var changing sync.Mutex
	return interceptor.NewClient(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			changing.Lock()
			defer changing.Unlock()
			return c.Create(ctx, o, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			changing.Lock()
			defer changing.Unlock()
			if err := sameObject(ctx, c, o, o.GetUID()); err != nil {
				return err
			}
			return c.Update(ctx, o, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			changing.Lock()
			defer changing.Unlock()
			only := (&client.DeleteOptions{}).ApplyOptions(options).Preconditions
			if only != nil && only.UID != nil {
				if err := sameObject(ctx, c, o, *only.UID); err != nil {
					return err
				}
			}
			return c.Delete(ctx, o, options...)
		},
	})
}

// sameObject returns a conflict if the stored Lease has another UID.
func sameObject(ctx context.Context, c client.Reader, o client.Object, uid types.UID) error {
	stored := &coordinationv1.Lease{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), stored); err != nil {
		return err
	}
	if stored.UID != uid {
		return apierrors.NewConflict(coordinationv1.Resource("leases"), o.GetName(), fmt.Errorf("it is %s, not %s", stored.UID, uid))
	}
	return nil
}

// TestHubRefusesLateRequests: a request for an object that was deleted does not change the next one of its name.
func TestHubRefusesLateRequests(t *testing.T) {
	hub := newHub()
	create := func(uid types.UID) *coordinationv1.Lease {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: recordName, UID: uid}}
		if err := hub.Create(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		return lease
	}
	late := create("first")
	if err := hub.Delete(t.Context(), late.DeepCopy(), client.Preconditions{UID: &late.UID}); err != nil {
		t.Fatal(err)
	}
	create("second")
	if err := hub.Update(t.Context(), late.DeepCopy()); !apierrors.IsConflict(err) {
		t.Errorf("a late update: %v", err)
	}
	if err := hub.Delete(t.Context(), late, client.Preconditions{UID: &late.UID}); !apierrors.IsConflict(err) {
		t.Errorf("a late deletion: %v", err)
	}
}
