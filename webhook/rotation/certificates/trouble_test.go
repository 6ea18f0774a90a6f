// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestConflictMeansThatAnotherReplicaDidIt(t *testing.T) {
	clock := testclock.NewFakeClock(epoch)
	inner := fake.NewClientBuilder().Build()
	other := newAuthority(t, inner, clock)
	conflicts := 0
	hub := interceptor.NewClient(inner, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			mustEnsure(t, other) // just before us
			err := c.Update(ctx, o, opts...)
			if apierrors.IsConflict(err) {
				conflicts++
			}
			return err
		},
	})
	a := newAuthority(t, hub, clock)
	mustEnsure(t, other, a)
	clock.Step(41 * day)
	mustEnsure(t, a)
	if conflicts == 0 || a.State().Next == nil || !a.State().Next.equals(other.State().Next) {
		t.Errorf("after %d conflicts the replicas have %v and %v", conflicts, a.State().Next, other.State().Next)
	}
}

func TestEndlessConflictsEnd(t *testing.T) {
	clock := testclock.NewFakeClock(epoch)
	updates := 0
	hub := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			updates++
			return apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, secretName.Name, errors.New("busy"))
		},
	})
	a := newAuthority(t, hub, clock)
	mustEnsure(t, a)
	clock.Step(41 * day)
	if err := a.Ensure(t.Context()); !apierrors.IsConflict(err) || updates != 5 {
		t.Errorf("after %d updates: %v", updates, err)
	}
	mustServe(t, a, a.Bundle())
}

func TestCorruptSecretIsLeftAlone(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	var log strings.Builder
	a := newAuthority(t, hub, clock, func(o *Options) {
		o.Log = funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{Verbosity: 10})
	})
	mustEnsure(t, a)
	secret, trusted := stored(t, hub), a.Bundle()
	secret.Data["current.key"] = secret.Data["current.key"][:100]
	if err := hub.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	damaged := stored(t, hub)
	clock.Step(6 * day)
	for _, replica := range []*Authority{a, newAuthority(t, hub, clock)} {
		err := replica.Ensure(t.Context())
		if err == nil || !strings.Contains(err.Error(), "Secret system/webhook-ca") || !strings.Contains(err.Error(), "delete") {
			t.Fatalf("got %v", err)
		}
		mustHideKeys(t, err.Error(), damaged.Data)
	}
	if stored(t, hub).ResourceVersion != damaged.ResourceVersion {
		t.Error("the corrupt Secret was written")
	}
	clock.Step(2 * day)
	mustServe(t, a, trusted) // renewed meanwhile
	mustHideKeys(t, log.String(), damaged.Data)
	if strings.Contains(log.String(), "BEGIN") || log.Len() == 0 {
		t.Errorf("log: %s", &log)
	}
}

func TestDeletedSecretBecomesARotation(t *testing.T) {
	hub, clock := fake.NewFakeClient(), testclock.NewFakeClock(epoch)
	a := newAuthority(t, hub, clock)
	mustEnsure(t, a)
	trusted := a.Bundle()
	if err := hub.Delete(t.Context(), stored(t, hub)); err != nil {
		t.Fatal(err)
	}
	mustEnsure(t, a)
	mustServe(t, a, trusted)
	late := newAuthority(t, hub, clock)
	mustEnsure(t, late)
	mustServe(t, late, trusted)
	if a.State().Next == nil {
		t.Error("no rotation began after the Secret was deleted")
	}
}

func TestLeafIsRenewedWithoutTheHub(t *testing.T) {
	for name, answer := range map[string]func(context.Context) error{
		"refuses": func(context.Context) error { return errors.New("connection refused") },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			var down atomic.Bool
			hub := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if down.Load() {
						return answer(ctx)
					}
					return c.Get(ctx, key, o, opts...)
				},
			})
			clock := testclock.NewFakeClock(epoch)
			a := newAuthority(t, hub, clock)
			mustEnsure(t, a)
			down.Store(true)
			trusted := a.Bundle()
			for range 5 {
				clock.Step(5 * day)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				err := a.Ensure(ctx)
				cancel()
				if err == nil {
					t.Error("the failure was not reported")
				}
				mustServe(t, a, trusted)
			}
			down.Store(false)
			mustEnsure(t, a)
		})
	}
}
