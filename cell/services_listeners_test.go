// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// at gives the Gateway listeners such as "https HTTPS *.example.com".
func (f *fixture) at(listeners ...string) {
	f.t.Helper()
	var list []any
	for i, text := range listeners {
		words := append(strings.Fields(text), "")
		listener := map[string]any{"name": words[0], "protocol": words[1], "port": int64(8000 + i)}
		if words[2] != "" {
			listener["hostname"] = words[2]
		}
		if words[1] == "HTTPS" {
			listener["tls"] = map[string]any{"certificateRefs": []any{map[string]any{"name": "certificate"}}}
		}
		list = append(list, listener)
	}
	f.editGateway(func(gateway *unstructured.Unstructured) { gateway.Object["spec"].(map[string]any)["listeners"] = list })
}

// nameListeners plays the hub: the operator has named these listeners of the Gateway.
func (f *fixture) nameListeners(names ...string) {
	f.t.Helper()
	stored := &v1alpha.Cell{}
	f.getCell(stored, wire.CellName(types.UID("hub-of-"+f.namespace)))
	stored.Spec.LoadBalancer.Gateway.Listeners = names
	f.update(stored)
	f.syncCell(stored.Name)
}

// wantListeners wants the route to name these listeners; "": each one.
func (f *fixture) wantListeners(want ...string) {
	f.t.Helper()
	parents, _, _ := unstructured.NestedSlice(f.httpRoute().Object, "spec", "parentRefs")
	var got []string
	for _, parent := range parents {
		name, _, _ := unstructured.NestedString(parent.(map[string]any), "sectionName")
		got = append(got, name)
	}
	if !equality.Semantic.DeepEqual(got, want) {
		f.t.Errorf("the route is for listeners %q, want %q", got, want)
	}
}

// TestListeners: a route names the listeners that the operator has named, or the HTTPS listeners of its names.
func TestListeners(t *testing.T) {
	for i, test := range []struct{ has, named, want []string }{
		{[]string{"plain HTTP"}, nil, []string{""}},
		{[]string{"plain HTTP", "b HTTPS *.example.com", "a HTTPS"}, nil, []string{"a", "b"}},
		{[]string{"plain HTTP", "https HTTPS *.example.org"}, nil, []string{""}},
		{[]string{"plain HTTP", "a HTTPS *.example.com", "b HTTPS"}, []string{"b"}, []string{"b"}},
		{[]string{"plain HTTP", "https HTTPS *.example.com"}, []string{"plain", "https"}, []string{"plain", "https"}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			f := newRouted(t, "shop.example.com")
			f.createGateway()
			f.at(test.has...)
			f.nameListeners(test.named...)
			f.reconcileTwice()
			f.wantListeners(test.want...)
			f.reconcile(f.routing(f.readOnly()), "web")
			// A route of each listener follows the settings, too.
			f.at("plain HTTP", "https HTTPS *.example.com")
			f.nameListeners("https")
			f.reconcile(f.routing(), "web")
			f.wantListeners("https")
			f.at("plain HTTP")
			f.nameListeners()
			f.reconcile(f.routing(), "web")
			f.wantListeners("")
		})
	}
}

// TestAListenerThatDoesNotExist: its name is in a condition. A route stays at its listeners, and its city in the names, whatever the
// Gateway answers.
func TestAListenerThatDoesNotExist(t *testing.T) {
	f := newAttached(t, "shop.example.com")
	f.nameListeners("http", "htps")
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Hostnames = []string{"new.example.com"} })
	f.after(time.Minute)
	check := func() {
		t.Helper()
		f.wantProgrammed("web", v1alpha.ReasonGatewayNotFound)
		f.wantNote("no listener htps")
		f.wantAddresses("203.0.113.7")
		f.wantListeners("")
		names, _, _ := unstructured.NestedStringSlice(f.httpRoute().Object, "spec", "hostnames")
		if strings.Join(names, " ") != "new.example.com" {
			t.Errorf("the names are %v", names)
		}
	}
	check()
	f.answer("Accepted False NoMatchingParent")
	f.after(5 * time.Minute)
	check()
	f.nameListeners("http")
	f.after(6 * time.Minute)
	f.wantListeners("http")
	f.wantProgrammed("web", v1alpha.ReasonAwaitingAddress)
	f.answer("Accepted True Accepted")
	f.after(7 * time.Minute)
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
}

// TestANewRouteWithoutAListener: a route whose listener does not exist is at no listener until it does.
func TestANewRouteWithoutAListener(t *testing.T) {
	f := newRouted(t, "shop.example.com")
	f.createGateway()
	f.address("203.0.113.7")
	f.nameListeners("htps")
	f.reconcileTwice()
	f.wantListeners()
	f.wantProgrammed("web", v1alpha.ReasonGatewayNotFound)
	f.wantAddresses("")
	f.nameListeners("http")
	f.reconcile(f.routing(), "web")
	f.wantListeners("http")
}

// TestARouteWithAFault: the same reconciler ends with the route, its changes and its addresses, whichever write fails, and keeps the
// addresses in between.
func TestARouteWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newRouted(t, "shop.example.com")
		f.createGateway()
		f.address("203.0.113.7")
		r := f.routing(faults.Client(f.cached))
		request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.namespace, Name: "web"}}
		follow := func(addresses string) {
			t.Helper()
			for range 2 {
				faults.Reconcile(t, func() error {
					f.sync()
					_, err := r.Reconcile(t.Context(), request)
					return err
				})
			}
			f.wantAddresses(addresses)
		}
		follow("")
		f.answer("Accepted True Accepted")
		f.clock.SetTime(now.Add(5 * time.Second))
		follow("203.0.113.7")
		f.nameListeners("http")
		f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Hostnames = []string{"new.example.com"} })
		follow("203.0.113.7")
		f.wantListeners("http")
		f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Exposure, d.Spec.Service.Hostnames = "", nil })
		follow("")
		if f.httpRoute() != nil {
			t.Error("the route is still there")
		}
	})
}

// TestAListenerThatRefuses: a name that only another listener has, or one that refuses the route, does not get the addresses. One
// controller that accepts for a listener is enough.
func TestAListenerThatRefuses(t *testing.T) {
	f := newRouted(t, "a.apps.example.com", "shop.example.com", "www.example.org")
	f.createGateway()
	f.address("203.0.113.7")
	f.at("plain HTTP", "apps HTTPS *.apps.example.com", "shop HTTPS shop.example.com")
	f.nameListeners("apps", "shop")
	f.reconcileTwice()
	f.answer("Accepted True Accepted")
	f.editParents(func(parents []any) []any {
		refusal := copied(parents[0])
		parents[0].(map[string]any)["parentRef"].(map[string]any)["sectionName"] = "apps"
		refusal["parentRef"].(map[string]any)["sectionName"] = "shop"
		refusal["conditions"].([]any)[0].(map[string]any)["status"] = "False"
		removed := copied(refusal)
		removed["controllerName"] = "removed.example.com/controller"
		removed["parentRef"].(map[string]any)["sectionName"] = "apps"
		return []any{removed, refusal, parents[0]}
	})
	f.after(0)
	f.wantAddresses("203.0.113.7")
	if got := f.storedDeployment().Status.Indices[0].UnroutedHostnames; got != "shop.example.com,www.example.org" {
		t.Errorf("not routed are %q", got)
	}
}
