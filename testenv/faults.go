// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// ErrFault is the error of a request that Faults has failed.
var ErrFault = errors.New("the connection is broken")

// Faults lets two writes of a controller fail: one is lost, and of the next one, which most often repeats it, the
// answer is lost. It is safe for concurrent use.
type Faults struct {
	mu sync.Mutex
	// number is the number of the first write that fails, and seen is how many writes there were.
	number, seen int
	failed       []string
}

// EachWriteFails runs a test again and again, and in each run another write fails. The test makes its reconciler with a
// client of faults, reconciles with Reconcile, which continues with the same reconciler, and then checks what it would
// check without any fault. It ends with a run without a fault.
func EachWriteFails(t *testing.T, test func(t *testing.T, faults *Faults)) {
	t.Helper()
	for number, more := 1, true; more; number++ {
		faults := &Faults{number: number}
		// The outer one ends when the test has, also if that runs beside others.
		t.Run(fmt.Sprintf("write %d", number), func(t *testing.T) {
			t.Run("fails", func(t *testing.T) {
				t.Cleanup(func() {
					if t.Failed() {
						t.Logf("the writes that fail are: %s", faults.Failed())
					}
				})
				test(t, faults)
			})
		})
		if more = faults.Failed() != ""; !more && number == 1 {
			t.Error("the test makes no write through faults")
		}
	}
}

// Failed returns the writes that have failed; "": none yet.
func (f *Faults) Failed() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.failed, ", ")
}

// Reconcile calls a reconcile, and calls it again while it fails because of a write that fails.
func (f *Faults) Reconcile(t *testing.T, reconcile func() error) {
	t.Helper()
	err := reconcile()
	for range 2 {
		if errors.Is(err, ErrFault) {
			err = reconcile()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Do sends a write, or fails it. what describes it.
func (f *Faults) Do(what string, send func() error) error {
	f.mu.Lock()
	f.seen++
	lost, late := f.seen == f.number, f.seen == f.number+1
	switch {
	case lost:
		f.failed = append(f.failed, what)
	case late:
		f.failed = append(f.failed, "the answer of "+what)
	}
	f.mu.Unlock()

	if !lost {
		if err := send(); err != nil || !late {
			return err
		}
	}
	return fmt.Errorf("%s: %w", what, ErrFault)
}

// Client returns a client whose writes pass through f.
func (f *Faults) Client(c client.WithWatch) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return f.Do(describe("create", obj), func() error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			return f.Do(describe("update", obj), func() error { return c.Update(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return f.Do(describe("patch", obj), func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return f.Do(describe("delete", obj), func() error { return c.Delete(ctx, obj, opts...) })
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteAllOfOption) error {
			return f.Do(describe("delete all", obj), func() error { return c.DeleteAllOf(ctx, obj, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			return f.Do(describeApplied("apply", obj), func() error { return c.Apply(ctx, obj, opts...) })
		},
		SubResourceCreate: func(
			ctx context.Context, c client.Client, name string, obj, sub client.Object, opts ...client.SubResourceCreateOption,
		) error {
			return f.Do(describe("create "+name, obj), func() error { return c.SubResource(name).Create(ctx, obj, sub, opts...) })
		},
		SubResourceUpdate: func(
			ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption,
		) error {
			return f.Do(describe("update "+name, obj), func() error { return c.SubResource(name).Update(ctx, obj, opts...) })
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			return f.Do(describe("patch "+name, obj), func() error { return c.SubResource(name).Patch(ctx, obj, patch, opts...) })
		},
		SubResourceApply: func(
			ctx context.Context, c client.Client, name string, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption,
		) error {
			return f.Do(describeApplied("apply "+name, obj), func() error { return c.SubResource(name).Apply(ctx, obj, opts...) })
		},
	})
}

func describe(verb string, obj client.Object) string {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", obj), "*")
	return verb + " " + kind[strings.LastIndexByte(kind, '.')+1:] + " " + obj.GetName()
}

func describeApplied(verb string, obj runtime.ApplyConfiguration) string {
	if named, ok := obj.(interface {
		GetKind() string
		GetName() string
	}); ok {
		return verb + " " + named.GetKind() + " " + named.GetName()
	}
	return fmt.Sprintf("%s %T", verb, obj)
}

// NotServed is the answer of an API server that does not serve a kind to a request for an object of a name.
func NotServed(name string) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, name, "404 page not found", 0, true)
}
