// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

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
			wantMessage: []string{"spec.placements[0].cityCodes[1]", "spec.placements[0].cityCodes[2]", "\"DFW\", \"ORD\""},
		},
		"no extras":                     {now: workload("DFW"), wantCode: 403, wantMessage: []string{"not made in a project"}},
		"one extra missing":             {extra: with(inProject("north"), "parent-type"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"parent-type"}},
		"an extra with two values":      {extra: with(inProject("north"), "parent-name", "north", "south"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"2 values"}},
		"an organization":               {extra: with(inProject("north"), "parent-type", "Organization"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"Organization"}},
		"another group":                 {extra: with(inProject("north"), "parent-api-group", "example.com"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"example.com"}},
		"a name that is a path":         {extra: inProject("../north"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"no name of one"}},
		"a project that does not exist": {extra: inProject("nowhere"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"nowhere", "does not exist"}},
		"a project that is going":       {extra: inProject("going"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"being deleted"}},
		"a suspended project":           {extra: inProject("asleep"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"suspended"}},
		"a project that is not ready":   {extra: inProject("new"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"not ready yet"}},
		"Milo out of reach is an error": {extra: inProject("unreachable"), now: workload("DFW"), wantCode: 503, wantMessage: []string{"cannot be reached"}},
		"a project out of reach too":    {extra: inProject("dark"), now: workload("DFW"), wantCode: 504, wantMessage: []string{"locations", "cannot be reached"}},
		"and one that says no rights":   {extra: inProject("mute"), now: workload("DFW"), wantCode: 504, wantMessage: []string{"permissions", "cannot be reached"}},
		"a replica that Milo refuses":   {extra: inProject("refused"), now: workload("DFW"), wantCode: 500, wantMessage: []string{"could not be looked up", "credentials"}},
		"and knows the project":         {extra: inProject("stale"), now: workload("DFW"), wantCode: 500, wantMessage: []string{"locations", "credentials"}},
		"old cities need no locations":  {extra: inProject("dark"), before: workload("XYZ", "DFW"), now: workload("DFW"), wantAllowed: true},
		"all errors at once": {
			extra: inProject("north"), now: changed(workload("XYZ"), badName), wantCode: 422,
			wantMessage: []string{"spec.placements[0].cityCodes[0]", "metadata.name"},
		},
		"an unchanged spec needs nobody": {
			extra: inProject("unreachable"), before: workload("XYZ"), now: workload("XYZ"), wantAllowed: true,
		},
		"what is being deleted needs nobody": {before: workload("XYZ"), now: changed(workload("QQQ"), deleting), wantAllowed: true},
		"a withdrawn city does not block":    {extra: inProject("north"), before: workload("XYZ"), now: workload("xyz", "DFW"), wantAllowed: true},
		"a new unknown city does":            {extra: inProject("north"), before: workload("DFW"), now: workload("DFW", "XYZ"), wantCode: 422, wantMessage: []string{"XYZ"}},
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
			for _, message := range c.wantMessage {
				if !strings.Contains(response.Result.Message, message) {
					t.Errorf("message %q lacks %q", response.Result.Message, message)
				}
			}
		})
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
		handler     *webhook.Owned
		kind, user  string
		wantAllowed bool
		wantCode    int32
		wantMessage string
	}{
		"the add-on":              {handler: owned, kind: "Instance", user: "add-on", wantAllowed: true},
		"a consumer":              {handler: owned, kind: "Instance", user: "consumer", wantCode: 403, wantMessage: "change the Workload"},
		"a consumer's deployment": {handler: owned, kind: "WorkloadDeployment", user: "consumer", wantCode: 403, wantMessage: "WorkloadDeployment"},
		"another kind":            {handler: owned, kind: "Pod", user: "add-on", wantCode: 400, wantMessage: "Pod"},
		"Milo out of reach":       {handler: lost, kind: "Instance", user: "add-on", wantCode: 503, wantMessage: "cannot be reached"},
		"credentials refused":     {handler: refused, kind: "Instance", user: "add-on", wantCode: 500, wantMessage: "credentials"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			request := creation(t, workload("DFW"))
			request.Kind.Kind, request.UserInfo.Username = c.kind, c.user
			response := c.handler.Handle(t.Context(), request)
			if response.Allowed != c.wantAllowed || !c.wantAllowed && (response.Result.Code != c.wantCode || !strings.Contains(response.Result.Message, c.wantMessage)) {
				t.Errorf("answer is %t, %+v", response.Allowed, response.Result)
			}
		})
	}
}
