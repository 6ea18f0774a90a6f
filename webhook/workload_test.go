// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
)

func TestWorkloads(t *testing.T) {
	badName := func(w *v1alpha.Workload) { w.Name = "Not_a_Label" }
	cases := map[string]struct {
		extra       map[string]authenticationv1.ExtraValue
		before, now *v1alpha.Workload
		wantAllowed bool
		wantCode    int32
		wantMessage []string
	}{
		"cities that the project may use":    {extra: inProject("north"), now: workload("DFW", "ord"), wantAllowed: true},
		"a city that was added a moment ago": {extra: inProject("north"), now: workload("DFW", "new"), wantAllowed: true},
		"every unknown city, with its path": {
			extra: inProject("north"), now: workload("DFW", "XYZ", "QQQ"), wantCode: 422,
			wantMessage: []string{"spec.placements[0].cityCodes[1]", "spec.placements[0].cityCodes[2]", "\"DFW\", \"NEW\", \"ORD\""},
		},
		"locations that the project may use": {extra: inProject("north"), now: at(workload(), "dfw-1", "new-1"), wantAllowed: true},
		"both locations of a city":           {extra: inProject("north"), now: at(workload(), "two-1", "two-2"), wantAllowed: true},
		"every unknown location, with its path": {
			extra: inProject("north"), now: at(workload(), "dfw-1", "xyz-1", "syd-1"), wantCode: 422,
			wantMessage: []string{"spec.placements[0].locations[1].name", "spec.placements[0].locations[2].name", "\"dfw-1\", \"ord-1\", \"new-1\""},
		},
		"a part of a city": {
			extra: inProject("north"), now: at(workload(), "two-1"), wantCode: 422,
			wantMessage: []string{"spec.placements[0].locations[0].name: Invalid", "city TWO has other locations too"},
		},
		"a withdrawn location does not block": {
			extra: inProject("north"), before: at(workload(), "xyz-1", "two-1"), now: at(workload(), "xyz-1", "two-1", "dfw-1"), wantAllowed: true,
		},
		"locations instead of cities, out of reach": {
			extra: inProject("dark"), before: workload("DFW"), now: at(workload(), "dfw-1"), wantCode: 504, wantMessage: []string{"locations"},
		},
		"a selector":                      {extra: inProject("north"), now: selecting(workload(), "us"), wantAllowed: true},
		"a selector that matches nothing": {extra: inProject("north"), now: selecting(workload(), "nowhere"), wantAllowed: true},
		"an empty selector": {
			extra: inProject("north"), now: changed(selecting(workload(), "us"),
				func(w *v1alpha.Workload) { w.Spec.Placements[0].LocationSelector.MatchLabels = nil }),
			wantCode: 422, wantMessage: []string{"spec.placements[0].locationSelector", "at least one label"},
		},
		"fewer cities than locations": {
			extra: inProject("north"), now: spreading(at(workload(), "two-1", "two-2"), 2), wantCode: 422,
			wantMessage: []string{"spec.placements[0].spread.cities", "the locations are in 1 cities"},
		},
		"a candidate that another placement selects": {
			extra: inProject("north"), now: beside(spreading(workload("DFW", "ORD"), 1), "dfw-1"), wantCode: 422,
			wantMessage: []string{"spec.placements[1].spread", "city DFW"},
		},
		"spread is added to a city of another placement": {
			extra: inProject("north"), before: beside(workload("DFW", "ORD"), "dfw-1"),
			now: beside(spreading(workload("DFW", "ORD"), 1), "dfw-1"), wantCode: 422, wantMessage: []string{"spec.placements[0].spread"},
		},
		"other placements beside candidates": {
			extra: inProject("north"), now: beside(spreading(workload("DFW"), 1), "ord-1"), wantAllowed: true,
		},
		"no extras": {now: workload("DFW"), wantCode: 403, wantMessage: []string{"not made in a project"}},
		"one extra missing": {
			extra: with(inProject("north"), "parent-type"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"parent-type"},
		},
		"an extra with two values": {
			extra: with(inProject("north"), "parent-name", "north", "south"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"2 values"},
		},
		"an organization": {
			extra: with(inProject("north"), "parent-type", "Organization"), now: workload("DFW"), wantCode: 403,
			wantMessage: []string{"Organization"},
		},
		"another group": {
			extra: with(inProject("north"), "parent-api-group", "example.com"), now: workload("DFW"), wantCode: 403,
			wantMessage: []string{"example.com"},
		},
		"a name that is a path": {
			extra: inProject("../north"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"no name of one"},
		},
		"a project that does not exist": {
			extra: inProject("nowhere"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"nowhere", "does not exist"},
		},
		"a project that is going": {
			extra: inProject("going"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"being deleted"},
		},
		"a suspended project": {
			extra: inProject("asleep"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"suspended"},
		},
		"a project that is not ready": {
			extra: inProject("new"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"not ready yet"},
		},
		"Milo out of reach is an error": {
			extra: inProject("unreachable"), now: workload("DFW"), wantCode: 503, wantMessage: []string{"cannot be reached"},
		},
		"a project out of reach too": {
			extra: inProject("dark"), now: workload("DFW"), wantCode: 504, wantMessage: []string{"locations", "cannot be reached"},
		},
		"and one that says no rights": {
			extra: inProject("mute"), now: workload("DFW"), wantCode: 504, wantMessage: []string{"permissions", "cannot be reached"},
		},
		"nobody is refused for what may have changed": {
			extra: inProject("away"), now: workload("DFW"), wantCode: 503, wantMessage: []string{"cannot be reached"},
		},
		"a replica that Milo refuses": {
			extra: inProject("refused"), now: workload("DFW"), wantCode: 500, wantMessage: []string{"could not be looked up", "credentials"},
		},
		"and knows the project": {
			extra: inProject("stale"), now: workload("DFW"), wantCode: 500, wantMessage: []string{"locations", "credentials"},
		},
		"a Milo without the kind is no outage": {
			extra: inProject("bare"), now: workload("DFW"), wantCode: 501,
			wantMessage: []string{"LocationBindings", "install their CustomResourceDefinition"},
		},
		"and admits what names no new city": {extra: inProject("bare"), before: workload("XYZ", "DFW"), now: workload("DFW"), wantAllowed: true},
		"old cities need no locations":      {extra: inProject("dark"), before: workload("XYZ", "DFW"), now: workload("DFW"), wantAllowed: true},
		"all errors at once": {
			extra: inProject("north"), now: changed(workload("XYZ"), badName), wantCode: 422,
			wantMessage: []string{"spec.placements[0].cityCodes[0]", "metadata.name"},
		},
		"an unchanged spec needs nobody": {
			extra: inProject("unreachable"), before: workload("XYZ"), now: workload("XYZ"), wantAllowed: true,
		},
		"what is being deleted needs nobody": {before: workload("XYZ"), now: changed(workload("QQQ"), deleting), wantAllowed: true},
		"a withdrawn city does not block": {
			extra: inProject("north"), before: workload("XYZ"), now: workload("xyz", "DFW"), wantAllowed: true,
		},
		"a new unknown city does": {
			extra: inProject("north"), before: workload("DFW"), now: workload("DFW", "XYZ"), wantCode: 422, wantMessage: []string{"XYZ"},
		},
		"an old mistake does not block": {
			extra: inProject("north"), before: changed(workload("DFW"), badName), now: changed(workload("DFW", "ORD"), badName), wantAllowed: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			request := creation(t, c.now)
			if c.before != nil {
				request = update(t, c.before, c.now)
			}
			request.UserInfo.Extra = c.extra
			response := workloads(newProjects()).Handle(t.Context(), request)
			if response.Allowed != c.wantAllowed {
				t.Fatalf("allowed: %t, result %+v", response.Allowed, response.Result)
			}
			if !c.wantAllowed && response.Result.Code != c.wantCode {
				t.Errorf("code is %d, want %d", response.Result.Code, c.wantCode)
			}
			if c.wantCode == http.StatusNotImplemented && strings.Contains(response.Result.Message, "try again") {
				t.Errorf("message %q promises that a retry helps", response.Result.Message)
			}
			for _, message := range c.wantMessage {
				if !strings.Contains(response.Result.Message, message) {
					t.Errorf("message %q lacks %q", response.Result.Message, message)
				}
			}
		})
	}
}

// at names locations instead of cities.
func at(w *v1alpha.Workload, names ...string) *v1alpha.Workload {
	w.Spec.Placements[0].CityCodes = nil
	for _, name := range names {
		w.Spec.Placements[0].Locations = append(w.Spec.Placements[0].Locations, v1alpha.PlacementLocation{Name: name})
	}
	return w
}

// selecting selects a region.
func selecting(w *v1alpha.Workload, region string) *v1alpha.Workload {
	w.Spec.Placements[0].CityCodes = nil
	w.Spec.Placements[0].LocationSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"topology.datum.net/region": region}}
	return w
}

// TestSelectorWarnings: a selector that matches nothing yet is accepted, with one warning.
func TestSelectorWarnings(t *testing.T) {
	for region, want := range map[string]int{"us": 0, "nowhere": 1} {
		before := selecting(workload(), region)
		response := workloads(newProjects()).Handle(t.Context(), creation(t, before))
		if !response.Allowed || len(response.Warnings) != want ||
			want > 0 && !strings.Contains(response.Warnings[0], "spec.placements[0].locationSelector: no location") {
			t.Errorf("%s: allowed %t with warnings %q", region, response.Allowed, response.Warnings)
		}
		scaled := selecting(workload(), region)
		scaled.Spec.Placements[0].ScaleSettings.MinReplicas = 2
		if response := workloads(newProjects()).Handle(t.Context(), update(t, before, scaled)); !response.Allowed || len(response.Warnings) > 0 {
			t.Errorf("%s, scaled: allowed %t with warnings %q", region, response.Allowed, response.Warnings)
		}
	}
}

// TestRefusalsAreFresh: the cached state of a project admits requests, and a refusal needs a fresh answer.
func TestRefusalsAreFresh(t *testing.T) {
	p := newProjects()
	p.fresh = map[string]webhook.Project{}
	for _, name := range []string{"going", "asleep", "new", "nowhere"} {
		p.fresh[name] = webhook.Project{Name: name, UID: "again", Ready: true}
		request := creation(t, workload("DFW"))
		request.UserInfo.Extra = inProject(name)
		if response := workloads(p).Handle(t.Context(), request); !response.Allowed {
			t.Errorf("%s: %+v", name, response.Result)
		}
	}
}

// TestLocationsWhileMiloIsAway: the known locations are used, with a warning; an unknown city is not refused.
func TestLocationsWhileMiloIsAway(t *testing.T) {
	p := newProjects()
	p.age, p.allowance = 90*time.Second, 1
	response := workloads(p).Handle(t.Context(), creation(t, workload("DFW", "ORD")))
	if all := strings.Join(response.Warnings, "\n"); !response.Allowed || len(response.Warnings) != 1 || !strings.Contains(all, "1m30s ago") {
		t.Errorf("allowed %t with warnings %q", response.Allowed, all)
	}
	response = workloads(p).Handle(t.Context(), creation(t, workload("DFW", "NEW")))
	if response.Allowed || response.Result.Code != http.StatusGatewayTimeout {
		t.Errorf("answer is %t, %+v", response.Allowed, response.Result)
	}
}

// TestQuotaIsNotWaitedFor longer than a warning is worth.
func TestQuotaIsNotWaitedFor(t *testing.T) {
	request := creation(t, workload("DFW"))
	request.UserInfo.Extra = inProject("unlimited")
	// A hanging Milo answers no request until the test has ended.
	if response := workloads(newProjects()).Handle(t.Context(), request); !response.Allowed {
		t.Errorf("answer is %+v", response.Result)
	}
}

func TestRequestsThatAreNotOurs(t *testing.T) {
	cases := map[string]func(*admission.Request){
		"another kind":  func(r *admission.Request) { r.Kind.Kind = "Pod" },
		"another group": func(r *admission.Request) { r.Kind.Group = "apps" },
		"a deletion":    func(r *admission.Request) { r.Operation = admissionv1.Delete },
		"no operation":  func(r *admission.Request) { r.Operation = "" },
		"no object":     func(r *admission.Request) { r.Object.Raw = nil },
		"an endless quantity": func(r *admission.Request) {
			r.Object.Raw = []byte(`{"spec":{"template":{"spec":{"runtime":{"resources":{"requests":{"cpu":" 1e-1000000000"}}}}}}}`)
		},
		"no object before": func(r *admission.Request) { r.Operation = admissionv1.Update },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			request := creation(t, workload("DFW"))
			change(&request)
			response := workloads(newProjects()).Handle(t.Context(), request)
			if response.Allowed || response.Result.Code != http.StatusBadRequest || response.Result.Reason != metav1.StatusReasonBadRequest {
				t.Errorf("answer is %+v", response)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	p := newProjects()
	p.allowance = 3
	request := creation(t, changed(workload("DFW", "ORD"), func(w *v1alpha.Workload) {
		w.Spec.Placements[0].ScaleSettings.MinReplicas = 2
		w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "nginx"
	}))
	response := workloads(p).Handle(t.Context(), request)
	all := strings.Join(response.Warnings, "\n")
	for _, want := range []string{"4 Instances", "quota is 3", "nginx"} {
		if !response.Allowed || !strings.Contains(all, want) {
			t.Errorf("allowed %t with warnings %q, want one about %q", response.Allowed, all, want)
		}
	}
	p.allowance = 4
	if response := workloads(p).Handle(t.Context(), creation(t, workload("DFW", "ORD"))); len(response.Warnings) > 0 {
		t.Errorf("warnings %q", response.Warnings)
	}
}

func TestOwned(t *testing.T) {
	owned := &webhook.Owned{Users: func(context.Context) ([]string, error) { return []string{"add-on"}, nil }}
	lost := &webhook.Owned{Users: func(context.Context) ([]string, error) { return nil, errUnreachable }}
	refused := &webhook.Owned{Users: func(context.Context) ([]string, error) { return nil, errOwnFault }}
	cases := map[string]struct {
		handler        *webhook.Owned
		resource, user string
		wantAllowed    bool
		wantCode       int32
		wantMessage    string
	}{
		"the add-on": {handler: owned, resource: "instances", user: "add-on", wantAllowed: true},
		"a consumer": {handler: owned, resource: "instances", user: "consumer", wantCode: 403, wantMessage: "change the Workload"},
		"a consumer's deployment": {
			handler: owned, resource: "workloaddeployments", user: "consumer", wantCode: 403, wantMessage: "WorkloadDeployment",
		},
		"a consumer's type":   {handler: owned, resource: "instancetypes", user: "consumer", wantCode: 403, wantMessage: "on the hub"},
		"another kind":        {handler: owned, resource: "pods", user: "add-on", wantCode: 400, wantMessage: "pods"},
		"Milo out of reach":   {handler: lost, resource: "instances", user: "add-on", wantCode: 503, wantMessage: "cannot be reached"},
		"credentials refused": {handler: refused, resource: "instances", user: "add-on", wantCode: 500, wantMessage: "credentials"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			request := creation(t, workload("DFW"))
			request.Resource = metav1.GroupVersionResource{Group: "compute.datumapis.com", Version: "v1alpha", Resource: c.resource}
			request.UserInfo.Username = c.user
			response := c.handler.Handle(t.Context(), request)
			if response.Allowed != c.wantAllowed || !c.wantAllowed &&
				(response.Result.Code != c.wantCode || !strings.Contains(response.Result.Message, c.wantMessage)) {
				t.Errorf("answer is %t, %+v", response.Allowed, response.Result)
			}
		})
	}
}

// suspended sets the annotation by which systems other than Milo may intend to stop Instances.
func suspended(w *v1alpha.Workload) {
	w.Annotations = map[string]string{"compute.datumapis.com/suspended": "true"}
}

// TestSuspendedAnnotation verifies that a new annotation is refused: consumers must not believe that the annotation
// stops Instances.
func TestSuspendedAnnotation(t *testing.T) {
	handler := workloads(newProjects())
	cases := map[string]struct {
		request     admission.Request
		wantAllowed bool
	}{
		"a creation":            {request: creation(t, changed(workload("DFW"), suspended))},
		"an update":             {request: update(t, workload("DFW"), changed(workload("DFW"), suspended))},
		"an update of the spec": {request: update(t, workload("DFW"), changed(workload("DFW", "ORD"), suspended))},
		"its removal":           {request: update(t, changed(workload("DFW"), suspended), workload("DFW")), wantAllowed: true},
		"one that is there": {
			request: update(t, changed(workload("DFW"), suspended), changed(workload("DFW", "ORD"), suspended)), wantAllowed: true,
		},
		"what is being deleted": {
			request: update(t, workload("DFW"), changed(changed(workload("DFW"), suspended), deleting)), wantAllowed: true,
		},
		"another change meanwhile": {
			request: update(t, changed(workload("DFW"), suspended), changed(workload("DFW"), suspended)), wantAllowed: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			response := handler.Handle(t.Context(), c.request)
			if response.Allowed != c.wantAllowed {
				t.Fatalf("allowed: %t, %+v", response.Allowed, response.Result)
			}
			if !c.wantAllowed {
				wantSuspensionAdvice(t, response, http.StatusUnprocessableEntity, "metadata.annotations[compute.datumapis.com/suspended]: Forbidden")
			}
		})
	}
	owned := &webhook.Owned{Users: func(context.Context) ([]string, error) { return []string{"add-on"}, nil }}
	for _, resource := range []string{"workloaddeployments", "instances"} {
		request := update(t, workload("DFW"), changed(workload("DFW"), suspended))
		request.Resource = metav1.GroupVersionResource{Group: "compute.datumapis.com", Version: "v1alpha", Resource: resource}
		wantSuspensionAdvice(t, owned.Handle(t.Context(), request), http.StatusForbidden, "annotation compute.datumapis.com/suspended")
	}
}

func wantSuspensionAdvice(t *testing.T, response admission.Response, code int32, where string) {
	t.Helper()
	if response.Allowed || response.Result.Code != code {
		t.Fatalf("allowed: %t, %+v", response.Allowed, response.Result)
	}
	for _, part := range []string{where, "has no effect", "suspend the project itself"} {
		if !strings.Contains(response.Result.Message, part) {
			t.Errorf("message %q lacks %q", response.Result.Message, part)
		}
	}
}
