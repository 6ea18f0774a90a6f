// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// newAttached is a Workload whose route the Gateway has accepted: it has address 203.0.113.7.
func newAttached(t *testing.T, names ...string) *fixture {
	t.Helper()
	f := newRouted(t, names...)
	f.createGateway()
	f.address("203.0.113.7")
	f.reconcileTwice()
	f.answer("Accepted True Accepted", "ResolvedRefs True ResolvedRefs")
	f.clock.SetTime(now.Add(5 * time.Second))
	f.reconcile(f.routing(), "web")
	f.wantAddresses("203.0.113.7")
	return f
}

// wantAddresses wants the report to have these addresses.
func (f *fixture) wantAddresses(want string) {
	f.t.Helper()
	if got := f.reported(); got != want {
		f.t.Errorf("reported %q, want %q", got, want)
	}
}

// after reconciles so long after the route was accepted.
func (f *fixture) after(d time.Duration) {
	f.t.Helper()
	f.clock.SetTime(now.Add(5*time.Second + d))
	f.reconcile(f.routing(), "web")
}

// TestAGatewayForAMoment: a Gateway without addresses, and one that is created again, keep the addresses of the city for a
// minute.
func TestAGatewayForAMoment(t *testing.T) {
	for name, test := range map[string]struct{ lose, find func(*fixture) }{
		"without addresses": {
			lose: func(f *fixture) { f.address() }, find: func(f *fixture) { f.address("203.0.113.7") },
		},
		"created again": {
			lose: func(f *fixture) { f.remove(f.ofGateway("Gateway", "public")) },
			find: func(f *fixture) { f.createGateway(); f.address("203.0.113.7") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newAttached(t, "shop.example.com")
			test.lose(f)
			for _, d := range []time.Duration{0, 3 * time.Second, 50 * time.Second} {
				f.after(d)
				f.wantAddresses("203.0.113.7")
			}
			test.find(f)
			f.after(55 * time.Second)
			f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
			test.lose(f)
			f.after(2 * time.Minute)
			f.wantAddresses("203.0.113.7")
			f.after(2*time.Minute + 61*time.Second)
			f.wantAddresses("")
		})
	}
}

// TestAGatewayKindThatIsNotServed: a cell that does not serve a kind for a while has not said that an object is gone.
func TestAGatewayKindThatIsNotServed(t *testing.T) {
	for _, kind := range []string{"HTTPRoute", "Gateway", "GatewayClass"} {
		t.Run(kind, func(t *testing.T) {
			f := newAttached(t, "shop.example.com")
			unserved := interceptor.NewClient(f.cached, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					if obj.GetObjectKind().GroupVersionKind().Kind == kind {
						return testenv.NotServed(key.Name)
					}
					return f.direct.Get(ctx, key, obj, opts...)
				},
			})
			reconciler := f.routing()
			reconciler.APIReader = unserved
			for _, d := range []time.Duration{0, 2 * time.Minute, 4 * time.Minute} {
				f.clock.SetTime(now.Add(5*time.Second + d))
				f.reconcile(reconciler, "web")
				f.wantAddresses("203.0.113.7")
				f.wantProgrammed("web", v1alpha.ReasonGatewayNotServed)
			}
			f.after(5 * time.Minute)
			f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
		})
	}
}

// TestARouteThatChanges: while the Gateway has not answered about a change of a route, and if the cell refuses the change, the
// city keeps its addresses.
func TestARouteThatChanges(t *testing.T) {
	f := newAttached(t, "shop.example.com")
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Hostnames = []string{"new.example.com"} })
	refusing := interceptor.NewClient(f.cached, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if obj.GetObjectKind().GroupVersionKind().Kind == "HTTPRoute" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "httproutes"}, obj.GetName(), errors.New("by policy"))
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
	})
	f.clock.SetTime(now.Add(5 * time.Minute))
	f.reconcile(f.routing(refusing), "web")
	f.wantProgrammed("web", v1alpha.ReasonServiceRefused)
	f.wantAddresses("203.0.113.7")

	for _, d := range []time.Duration{6 * time.Minute, 10 * time.Minute} {
		f.after(d)
		f.wantProgrammed("web", v1alpha.ReasonAwaitingAddress)
		f.wantAddresses("203.0.113.7")
	}
	f.answer("Accepted False NotAllowedByListeners")
	f.after(11 * time.Minute)
	f.wantAddresses("")
}

// TestAnswersOfControllers: the answer of the Gateway's own controller counts, also one without a generation.
func TestAnswersOfControllers(t *testing.T) {
	f := newAttached(t, "shop.example.com")
	f.createClass("example.com/controller")
	f.editParents(func(parents []any) []any {
		other, own := copied(parents[0]), parents[0].(map[string]any)
		other["controllerName"] = "removed.example.com/controller"
		for _, condition := range other["conditions"].([]any) {
			condition.(map[string]any)["status"] = "False"
		}
		for _, condition := range own["conditions"].([]any) {
			delete(condition.(map[string]any), "observedGeneration")
		}
		return []any{other, own}
	})
	f.after(time.Minute)
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	f.wantAddresses("203.0.113.7")
}

func copied(of any) map[string]any {
	return (&unstructured.Unstructured{Object: of.(map[string]any)}).DeepCopy().Object
}

// editParents changes status.parents of the route.
func (f *fixture) editParents(edit func([]any) []any) {
	f.t.Helper()
	route := f.httpRoute()
	status := route.Object["status"].(map[string]any)
	status["parents"] = edit(status["parents"].([]any))
	if err := f.direct.Status().Update(f.t.Context(), route); err != nil {
		f.t.Fatal(err)
	}
}

// TestNamesWithoutAListener: a name that no listener of the Gateway has is reported as not routed, and the others are.
func TestNamesWithoutAListener(t *testing.T) {
	f := newAttached(t, "shop.apps.example.com", "a.b.apps.example.com", "apps.example.com", "shop.example.org")
	for _, test := range []struct {
		listeners []any
		want      string
		addresses string
	}{
		{listeners(""), "", "203.0.113.7"},
		{listeners("*.apps.example.com"), "apps.example.com,shop.example.org", "203.0.113.7"},
		{listeners("shop.example.org", "apps.example.com"), "shop.apps.example.com,a.b.apps.example.com", "203.0.113.7"},
		{listeners("other.example.net"), "shop.apps.example.com,a.b.apps.example.com,apps.example.com,shop.example.org", ""},
	} {
		f.editGateway(func(gateway *unstructured.Unstructured) {
			gateway.Object["spec"].(map[string]any)["listeners"] = test.listeners
		})
		f.after(time.Minute)
		f.wantAddresses(test.addresses)
		if got := f.storedDeployment().Status.Indices[0].UnroutedHostnames; got != test.want {
			t.Errorf("not routed are %q, want %q", got, test.want)
		}
		reason := v1alpha.ReasonRouteNotAccepted
		if test.want == "" {
			reason = v1alpha.ReasonServiceProgrammed
		}
		f.wantProgrammed("web", reason)
	}
}

// listeners are HTTPS listeners of these host names.
func listeners(hosts ...string) []any {
	var all []any
	for i, host := range hosts {
		one := map[string]any{"name": "l" + string(rune('a'+i)), "port": int64(80), "protocol": "HTTP"}
		if host != "" {
			one["hostname"] = host
		}
		all = append(all, one)
	}
	return all
}

// TestANameIsAdded: while the Gateway has not answered about a name that is added, the city keeps its addresses for the other names, and a
// name without a listener does not get them.
func TestANameIsAdded(t *testing.T) {
	f := newAttached(t, "shop.apps.example.com", "shop.example.org")
	f.editGateway(func(gateway *unstructured.Unstructured) {
		gateway.Object["spec"].(map[string]any)["listeners"] = listeners("*.apps.example.com")
	})
	f.after(time.Minute)
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Service.Hostnames = append(d.Spec.Service.Hostnames, "www.apps.example.com", "www.example.org")
	})
	for _, d := range []time.Duration{2 * time.Minute, 10 * time.Minute} {
		f.after(d)
		f.wantProgrammed("web", v1alpha.ReasonAwaitingAddress)
		f.wantAddresses("203.0.113.7")
		if got := f.storedDeployment().Status.Indices[0].UnroutedHostnames; got != "shop.example.org,www.example.org" {
			t.Errorf("not routed are %q", got)
		}
	}
	f.answer("Accepted True Accepted", "ResolvedRefs True ResolvedRefs")
	f.after(11 * time.Minute)
	f.wantProgrammed("web", v1alpha.ReasonRouteNotAccepted)
	f.wantAddresses("203.0.113.7")
}
