// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"context"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// Call is a request that a controller makes.
type Call struct {
	// Verb is get, list, create, update, patch, delete or apply; of a status, "apply status" and so on; of an event,
	// "event" and its reason.
	Verb string
	// Kind of the object or list.
	Kind string
	// Name of the object; "" for a list.
	Name string
}

// Plane is a client of the real API server. It records the requests of a controller and lets a test do something before
// any of them, for example what another writer does between the controller's read and its write. It is safe for
// concurrent use.
type Plane struct {
	client.WithWatch

	mu     sync.Mutex
	calls  []Call
	before func(Call) error
	faults *testenv.Faults
	// indexes are by field.
	indexes map[string]client.IndexerFunc
}

func newPlane(c client.WithWatch) *Plane {
	p := &Plane{indexes: map[string]client.IndexerFunc{}}
	p.WithWatch = interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			return p.do(Call{"get", p.kind(obj), key.Name}, func() error { return c.Get(ctx, key, obj, opts...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return p.do(Call{"list", p.kind(list), ""}, func() error { return p.list(ctx, c, list, opts) })
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return p.do(p.call("create", obj), func() error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			return p.do(p.call("update", obj), func() error { return c.Update(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return p.do(p.call("patch", obj), func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return p.do(p.call("delete", obj), func() error { return c.Delete(ctx, obj, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			return p.do(applied("apply", obj), func() error { return c.Apply(ctx, obj, opts...) })
		},
		SubResourceApply: func(ctx context.Context, c client.Client, name string, obj runtime.ApplyConfiguration,
			opts ...client.SubResourceApplyOption,
		) error {
			return p.do(applied("apply "+name, obj), func() error { return c.SubResource(name).Apply(ctx, obj, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object,
			opts ...client.SubResourceUpdateOption,
		) error {
			return p.do(p.call("update "+name, obj), func() error { return c.SubResource(name).Update(ctx, obj, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			return p.do(p.call("patch "+name, obj), func() error { return c.SubResource(name).Patch(ctx, obj, patch, opts...) })
		},
	})
	return p
}

func (p *Plane) record(call Call) (before func(Call) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, call)
	return p.before
}

func (p *Plane) do(call Call, send func() error) error {
	if before := p.record(call); before != nil {
		if err := before(call); err != nil {
			return err
		}
	}
	p.mu.Lock()
	faults := p.faults
	p.mu.Unlock()
	if faults == nil || !call.isWrite() {
		return send()
	}
	return faults.Do(call.Verb+" "+call.Kind+" "+call.Name, send)
}

// Through lets the writes of the controller pass through faults.
func (p *Plane) Through(faults *testenv.Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = faults
}

// isWrite reports whether a call writes. Reviews are questions.
func (c Call) isWrite() bool {
	return c.Verb != "get" && c.Verb != "list" && !strings.HasSuffix(c.Kind, "Review")
}

func (p *Plane) call(verb string, obj client.Object) Call {
	return Call{verb, p.kind(obj), obj.GetName()}
}

func (p *Plane) kind(obj runtime.Object) string {
	gvk, err := apiutil.GVKForObject(obj, p.Scheme())
	if err != nil {
		return ""
	}
	return gvk.Kind
}

func applied(verb string, obj runtime.ApplyConfiguration) Call {
	call := Call{Verb: verb}
	if named, ok := obj.(interface {
		GetKind() string
		GetName() string
	}); ok {
		call.Kind, call.Name = named.GetKind(), named.GetName()
	}
	return call
}

// Before runs f before each request. If f returns an error, that is the answer, and the request is not sent. nil ends
// it.
func (p *Plane) Before(f func(Call) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = f
}

// Unserve answers each request for the kinds with this prefix as an API server does that does not serve them. "" ends it.
func (p *Plane) Unserve(prefix string) {
	p.Before(func(call Call) error {
		if prefix == "" || !strings.HasPrefix(call.Kind, prefix) {
			return nil
		}
		return testenv.NotServed(call.Name)
	})
}

// Once runs f once, before the first request with a verb and kind. Requests of f itself do not count.
func (p *Plane) Once(verb, kind string, f func() error) {
	p.Before(func(call Call) error {
		if call.Verb != verb || call.Kind != kind {
			return nil
		}
		p.Before(nil)
		return f()
	})
}

// Writes returns the write requests since the last call, and resets them.
func (p *Plane) Writes() []Call {
	return slices.DeleteFunc(p.Calls(), func(call Call) bool { return !call.isWrite() })
}

// Calls returns the requests since the last call, and resets them.
func (p *Plane) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls
	p.calls = nil
	return calls
}
