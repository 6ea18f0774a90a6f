// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/services"
)

// routed exposes the service of a deployment at the Gateway of the cell of a hub.
func routed(hub string, names ...string) change {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Labels[v1alpha.LabelHub] = hub
		d.Spec.Service.Exposure, d.Spec.Service.Hostnames = v1alpha.ServiceExposureGateway, names
	}
}

// routing is the reconciler in a cell that serves the Gateway API.
func (f *fixture) routing(c ...client.Client) *services.Reconciler {
	reconciler := f.services(c...)
	reconciler.Gateways = &services.Exports{Kinds: services.GatewayKinds(), Mapper: f.direct.RESTMapper(), Clock: f.clock}
	return reconciler
}

func (f *fixture) ofGateway(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("gateway.networking.k8s.io/v1")
	object.SetKind(kind)
	object.SetNamespace(f.namespace)
	object.SetName(name)
	return object
}

// httpRoute is HTTPRoute web; nil: it does not exist.
func (f *fixture) httpRoute() *unstructured.Unstructured {
	f.t.Helper()
	route := f.ofGateway("HTTPRoute", "web")
	err := f.direct.Get(f.t.Context(), client.ObjectKeyFromObject(route), route)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return route
}

// newRouted is a cell whose operator has named Gateway public, with a Workload that is exposed there.
func newRouted(t *testing.T, names ...string) *fixture {
	t.Helper()
	f := newFixture(t)
	hub := "hub-of-" + f.namespace
	f.labelHub(f.namespace, hub)
	cell := f.cell(types.UID(hub))
	stored := &v1alpha.Cell{}
	f.getCell(stored, cell.Name)
	stored.Spec.LoadBalancer = &v1alpha.CellLoadBalancer{Gateway: &v1alpha.CellGateway{Namespace: f.namespace, Name: "public"}}
	f.update(stored)
	f.syncCell(cell.Name)
	f.deployment(1, serving(1, 80), routed(hub, names...))
	return f
}

// reconcileTwice reconciles as after the event of the Service.
func (f *fixture) reconcileTwice() {
	f.t.Helper()
	for range 2 {
		f.reconcile(f.routing(), "web")
	}
}

func (f *fixture) createGateway() {
	f.t.Helper()
	gateway := f.ofGateway("Gateway", "public")
	gateway.Object["spec"] = map[string]any{
		"gatewayClassName": f.namespace,
		"listeners":        []any{map[string]any{"name": "http", "port": int64(80), "protocol": "HTTP"}},
	}
	f.create(gateway)
}

// address plays the controller of the Gateway, which gives it addresses.
func (f *fixture) address(values ...string) {
	f.t.Helper()
	gateway := f.ofGateway("Gateway", "public")
	if err := f.direct.Get(f.t.Context(), client.ObjectKeyFromObject(gateway), gateway); err != nil {
		f.t.Fatal(err)
	}
	var addresses []any
	for _, value := range values {
		addresses = append(addresses, map[string]any{"type": "IPAddress", "value": value})
	}
	gateway.Object["status"] = map[string]any{"addresses": addresses}
	if err := f.direct.Status().Update(f.t.Context(), gateway); err != nil {
		f.t.Fatal(err)
	}
}

// answer plays the controller of the Gateway, which gives the route these conditions, such as "Accepted True Accepted".
func (f *fixture) answer(conditions ...string) {
	f.t.Helper()
	route := f.httpRoute()
	var list []any
	for _, text := range conditions {
		words := strings.Fields(text)
		list = append(list, map[string]any{
			"type": words[0], "status": words[1], "reason": words[2], "message": "by the controller",
			"lastTransitionTime": now.UTC().Format(time.RFC3339), "observedGeneration": route.GetGeneration(),
		})
	}
	route.Object["status"] = map[string]any{"parents": []any{map[string]any{
		"controllerName": "example.com/controller", "conditions": list,
		"parentRef": map[string]any{
			"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": f.namespace, "name": "public",
		},
	}}}
	if err := f.direct.Status().Update(f.t.Context(), route); err != nil {
		f.t.Fatal(err)
	}
}

// TestRoute: a Service with exposure Gateway has a route by its names, and the addresses of the Gateway while it accepts
// the route.
func TestRoute(t *testing.T) {
	f := newRouted(t, "shop.example.com", "www.example.com")
	f.reconcileTwice()
	f.wantProgrammed("web", v1alpha.ReasonGatewayNotFound)
	f.createGateway()
	f.reconcile(f.routing(), "web")
	route := f.httpRoute()
	if route == nil || len(route.GetOwnerReferences()) != 1 {
		t.Fatalf("route %v", route)
	}
	names, _, _ := unstructured.NestedStringSlice(route.Object, "spec", "hostnames")
	rules, _, _ := unstructured.NestedSlice(route.Object, "spec", "rules")
	if strings.Join(names, " ") != "shop.example.com www.example.com" || len(rules) != 1 {
		t.Errorf("spec %v", route.Object["spec"])
	}

	f.wantProgrammed("web", v1alpha.ReasonAwaitingAddress)
	f.answer("Accepted False NotAllowedByListeners")
	f.address("203.0.113.7")
	f.reconcile(f.routing(), "web")
	f.wantProgrammed("web", v1alpha.ReasonRouteNotAccepted)
	f.answer("Accepted True Accepted", "ResolvedRefs False RefNotPermitted")
	f.reconcile(f.routing(), "web")
	f.wantProgrammed("web", v1alpha.ReasonRouteNotAccepted)
	if got := f.reported(); got != "" {
		t.Errorf("reported before the route is accepted: %q", got)
	}

	f.answer("Accepted True Accepted", "ResolvedRefs True ResolvedRefs")
	f.address("203.0.113.9", "203.0.113.7")
	// Times of conditions are without fractions of a second.
	if result := f.reconcile(f.routing(), "web"); result.RequeueAfter != now.Truncate(time.Second).Add(4*time.Second).Sub(f.clock.Now()) {
		t.Errorf("a route that was accepted just now is read again after %s", result.RequeueAfter)
	}
	f.wantProgrammed("web", v1alpha.ReasonAwaitingAddress)
	f.clock.SetTime(now.Add(4 * time.Second))
	f.reconcile(f.routing(), "web")
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	if got := f.reported(); got != "203.0.113.7,203.0.113.9" {
		t.Errorf("reported %q", got)
	}
	if result := f.reconcile(f.routing(f.readOnly()), "web"); result.RequeueAfter != time.Minute {
		t.Errorf("a settled route is read again after %s", result.RequeueAfter)
	}
	f.routeChanges()
}

// routeChanges verifies that a route that is not accepted any more, and the end of its exposure, withdraw the addresses.
func (f *fixture) routeChanges() {
	f.t.Helper()
	f.answer("Accepted False NoMatchingListenerHostname")
	f.reconcile(f.routing(), "web")
	f.wantProgrammed("web", v1alpha.ReasonRouteNotAccepted)
	stored := &v1alpha.WorkloadDeployment{}
	f.get(stored, "web")
	found := meta.FindStatusCondition(stored.Status.Conditions, v1alpha.ConditionServiceProgrammed)
	if found == nil || found.Status != metav1.ConditionFalse ||
		!strings.Contains(found.Message, "NoMatchingListenerHostname: by the controller") {
		f.t.Errorf("condition %+v", found)
	}
	if got := f.reported(); got != "" {
		f.t.Errorf("a route that is not accepted reports %q", got)
	}
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Hostnames = []string{"new.example.com"} })
	f.reconcile(f.routing(), "web")
	names, _, _ := unstructured.NestedStringSlice(f.httpRoute().Object, "spec", "hostnames")
	if strings.Join(names, " ") != "new.example.com" {
		f.t.Errorf("the names are %v", names)
	}
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Exposure, d.Spec.Service.Hostnames = "", nil })
	f.reconcile(f.routing(), "web")
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	if f.httpRoute() != nil || f.service() == nil {
		f.t.Errorf("the route stays: %v", f.httpRoute())
	}
}

// TestNoRoute: each obstacle is a reason, and no error.
func TestNoRoute(t *testing.T) {
	t.Run("a cell without a Gateway", func(t *testing.T) {
		f := newFixture(t)
		hub := "hub-of-" + f.namespace
		f.labelHub(f.namespace, hub)
		cell := f.cell(types.UID(hub))
		f.configure(cell, "", nil)
		f.deployment(1, serving(1, 80), routed(hub, "shop.example.com"))
		f.reconcileTwice()
		f.wantProgrammed("web", v1alpha.ReasonGatewayNotConfigured)
		if got := f.service(); got.Spec.Type != "ClusterIP" || f.httpRoute() != nil {
			t.Errorf("Service %+v, route %v", got.Spec, f.httpRoute())
		}
	})
	t.Run("a cell without a Gateway that had a load balancer", func(t *testing.T) {
		f := newFixture(t)
		hub := "hub-of-" + f.namespace
		f.labelHub(f.namespace, hub)
		cell := f.cell(types.UID(hub))
		f.configure(cell, "example.com/lb", nil)
		f.deployment(1, serving(1, 80), exposed(hub))
		f.reconcile(f.services(), "web")
		f.balance(corev1.LoadBalancerIngress{IP: "203.0.113.7"})
		f.changeDeployment(routed(hub, "shop.example.com"))
		f.reconcileTwice()
		f.wantProgrammed("web", v1alpha.ReasonGatewayNotConfigured)
		if got := f.service(); got.Spec.Type != "LoadBalancer" || len(got.Status.LoadBalancer.Ingress) != 1 || f.httpRoute() != nil {
			t.Errorf("Service %+v, route %v", got.Spec, f.httpRoute())
		}
		if got := f.reported(); got != "" {
			t.Errorf("it reports %q", got)
		}
	})
	t.Run("no names", func(t *testing.T) {
		f := newRouted(t)
		f.reconcileTwice()
		f.wantProgrammed("web", v1alpha.ReasonRouteWithoutNames)
	})
	t.Run("a cell without the kinds", func(t *testing.T) {
		f := newRouted(t, "shop.example.com")
		f.createGateway()
		mapper := &counting{}
		reconciler := f.services()
		reconciler.Gateways = &services.Exports{Kinds: services.GatewayKinds(), Mapper: mapper, Clock: f.clock}
		for range 3 {
			f.reconcile(reconciler, "web")
		}
		f.wantProgrammed("web", v1alpha.ReasonGatewayNotServed)
		if mapper.asked != 1 {
			t.Errorf("the cell is asked %d times", mapper.asked)
		}
		// The operator has installed the Gateway API.
		mapper.served = true
		f.clock.SetTime(f.clock.Now().Add(30 * time.Second))
		f.reconcile(reconciler, "web")
		if f.httpRoute() == nil {
			t.Error("a Workload that waits for the kinds gets no route")
		}
	})
	t.Run("a route of others", func(t *testing.T) {
		f := newRouted(t, "shop.example.com")
		f.createGateway()
		theirs := f.ofGateway("HTTPRoute", "web")
		theirs.Object["spec"] = map[string]any{"hostnames": []any{"theirs.example.com"}}
		f.create(theirs)
		f.reconcileTwice()
		f.wantProgrammed("web", v1alpha.ReasonServiceNameTaken)
		f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service = nil })
		f.reconcile(f.routing(), "web")
		if f.httpRoute() == nil || len(f.httpRoute().GetLabels()) > 0 {
			t.Errorf("it is now %v", f.httpRoute())
		}
	})
	t.Run("a route that the cell refuses", func(t *testing.T) {
		f := newRouted(t, "shop.example.com")
		f.createGateway()
		refusing := interceptor.NewClient(f.cached, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
				if obj.GetObjectKind().GroupVersionKind().Kind == "HTTPRoute" {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "httproutes"}, obj.GetName(), errors.New("by policy"))
				}
				return c.Create(ctx, obj, opts...)
			},
		})
		for range 2 {
			f.reconcile(f.routing(refusing), "web")
		}
		f.wantProgrammed("web", v1alpha.ReasonServiceRefused)
	})
}
