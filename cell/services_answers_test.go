// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// recordedAnswer is the status of a route that a controller wrote.
type recordedAnswer struct {
	About, Controller string
	// Note is in the message of condition ServiceProgrammed.
	Note    string
	Parents []any
}

func recordedAnswers(t *testing.T, namespace string) []recordedAnswer {
	t.Helper()
	text, err := os.ReadFile("testdata/route-status.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var answers []recordedAnswer
	placed := strings.ReplaceAll(string(text), "namespace: infra", "namespace: "+namespace)
	if err := yaml.UnmarshalStrict([]byte(placed), &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestRecordedAnswers: with each answer of a controller whose data plane works, a city keeps its addresses, and a new one gets them.
// A class that cannot be found out changes nothing.
func TestRecordedAnswers(t *testing.T) {
	for i, answer := range recordedAnswers(t, "") {
		for _, known := range []bool{true, false} {
			name := answer.About
			if !known {
				name += ", without the class"
			}
			t.Run(name, func(t *testing.T) {
				f := newRouted(t, "shop.example.com")
				if known {
					f.createClass(answer.Controller)
				}
				f.createGateway()
				f.address("203.0.113.7")
				f.reconcileTwice()
				f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Hostnames = []string{"new.example.com"} })
				f.reconcile(f.routing(), "web")
				f.answers(recordedAnswers(t, f.namespace)[i])
				f.reconcile(f.routing(), "web")
				f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
				f.wantAddresses("203.0.113.7")
				f.wantNote(answer.Note)
			})
		}
	}
}

// createClass gives Gateway public a class of its own, with this controller.
func (f *fixture) createClass(controller string) {
	f.t.Helper()
	class := f.ofGateway("GatewayClass", f.namespace)
	class.SetNamespace("")
	class.Object["spec"] = map[string]any{"controllerName": controller}
	f.create(class)
	f.t.Cleanup(func() { _ = f.direct.Delete(context.Background(), class) })
}

// answers plays a controller, which has given the route of generation 2 this answer.
func (f *fixture) answers(recorded recordedAnswer) {
	f.t.Helper()
	route := f.httpRoute()
	if route.GetGeneration() != 2 {
		f.t.Fatalf("the route has generation %d", route.GetGeneration())
	}
	status := map[string]any{"parents": recorded.Parents}
	text, err := yaml.Marshal(status)
	if err == nil {
		// Numbers of JSON are no int64.
		var decoded unstructured.Unstructured
		if text, err = yaml.YAMLToJSON(text); err == nil {
			err = decoded.UnmarshalJSON([]byte(`{"kind": "HTTPRoute", "status": ` + string(text) + `}`))
		}
		route.Object["status"] = decoded.Object["status"]
	}
	if err == nil {
		err = f.direct.Status().Update(f.t.Context(), route)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) wantNote(want string) {
	f.t.Helper()
	found := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionServiceProgrammed)
	if found == nil || !strings.Contains(found.Message, want) || want == "" && found.Message != "" {
		f.t.Errorf("ServiceProgrammed is %+v, want %q in its message", found, want)
	}
}

// TestOtherAnswers: the False of the Gateway's own controller counts, whatever the entries of others are. A Service that was not found
// after it existed is not found.
func TestOtherAnswers(t *testing.T) {
	f := newAttached(t, "shop.example.com")
	f.createClass("own.example/controller")
	for kind, at := range map[string]int{"Accepted": 0, "ResolvedRefs": 1} {
		f.editParents(func(parents []any) []any {
			own := copied(parents[0])
			own["controllerName"] = "own.example/controller"
			own["conditions"].([]any)[at].(map[string]any)["status"] = "False"
			own["conditions"].([]any)[at].(map[string]any)["reason"] = "BackendNotFound"
			own["conditions"].([]any)[at].(map[string]any)["lastTransitionTime"] = time.Now().UTC().Add(time.Second).Format(time.RFC3339)
			return []any{parents[0], own}
		})
		f.after(time.Minute)
		f.wantProgrammed("web", v1alpha.ReasonRouteNotAccepted)
		f.wantNote(kind)
		f.wantAddresses("")
	}
}

// TestProgrammedOfAGateway: a Gateway that is not programmed serves nothing: its city keeps the addresses for a minute. Unknown,
// and what its controller says about an earlier generation, change nothing.
func TestProgrammedOfAGateway(t *testing.T) {
	f := newAttached(t, "shop.example.com")
	f.programmed("Unknown", 1)
	f.after(time.Minute)
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	f.editGateway(func(gateway *unstructured.Unstructured) {
		gateway.Object["spec"].(map[string]any)["listeners"] = listeners("", "b.example.com")
	})
	f.programmed("False", 1)
	f.after(2 * time.Minute)
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)

	f.programmed("False", 2)
	for _, d := range []time.Duration{3 * time.Minute, 3*time.Minute + 50*time.Second} {
		f.after(d)
		f.wantProgrammed("web", v1alpha.ReasonAwaitingAddress)
		f.wantNote("NoResources")
		f.wantAddresses("203.0.113.7")
	}
	f.after(4*time.Minute + time.Second)
	f.wantAddresses("")
	f.programmed("True", 2)
	f.after(5 * time.Minute)
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	f.wantAddresses("203.0.113.7")
}

// programmed plays the controller of the Gateway, which reports this for a generation.
func (f *fixture) programmed(status string, generation int64) {
	f.t.Helper()
	gateway := f.ofGateway("Gateway", "public")
	if err := f.direct.Get(f.t.Context(), client.ObjectKeyFromObject(gateway), gateway); err != nil {
		f.t.Fatal(err)
	}
	gateway.Object["status"].(map[string]any)["conditions"] = []any{map[string]any{
		"type": "Programmed", "status": status, "reason": "NoResources", "message": "", "observedGeneration": generation,
		"lastTransitionTime": now.UTC().Format(time.RFC3339),
	}}
	if err := f.direct.Status().Update(f.t.Context(), gateway); err != nil {
		f.t.Fatal(err)
	}
}

// editGateway changes Gateway public.
func (f *fixture) editGateway(edit func(*unstructured.Unstructured)) {
	f.t.Helper()
	gateway := f.ofGateway("Gateway", "public")
	if err := f.direct.Get(f.t.Context(), client.ObjectKeyFromObject(gateway), gateway); err != nil {
		f.t.Fatal(err)
	}
	edit(gateway)
	f.update(gateway)
}
