// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestANameFollowsHealth: a city that does not serve leaves at once, returns after it has served for a time, and the last
// answer stays when no city serves.
func TestANameFollowsHealth(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	name := f.byPattern("web")
	f.reconcile(t, "web")
	f.wantAnswer(t, name, "")
	f.wantCondition(t, "web", v1alpha.ReasonNamesPending)

	f.serve(t, w, "DFW", "203.0.113.7")
	f.serve(t, w, "ORD", "203.0.113.8 2001:db8::8")
	f.reconcile(t, "web")
	f.wantAnswer(t, name, "A 203.0.113.7 203.0.113.8; AAAA 2001:db8::8")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, name)

	f.after(time.Hour)
	f.serve(t, w, "ORD", "")
	f.reconcile(t, "web")
	f.wantAnswer(t, name, "A 203.0.113.7")

	f.serve(t, w, "ORD", "203.0.113.8")
	f.after(10 * time.Second)
	if writes := f.reconcile(t, "web"); len(writes) > 0 || f.again != 20*time.Second {
		t.Errorf("before the city may return: %v, again after %s", writes, f.again)
	}
	f.after(20 * time.Second)
	f.reconcile(t, "web")
	f.wantAnswer(t, name, "A 203.0.113.7 203.0.113.8")

	f.serve(t, w, "DFW", "")
	f.serve(t, w, "ORD", "")
	f.reconcile(t, "web")
	f.wantAnswer(t, name, "A 203.0.113.7 203.0.113.8")
	condition := f.wantCondition(t, "web", v1alpha.ReasonNoCityServes, name)
	if !strings.Contains(condition.Message, "DFW, ORD") {
		t.Errorf("the message is %q", condition.Message)
	}

	f.serve(t, w, "ORD", "203.0.113.9")
	f.reconcile(t, "web")
	f.wantAnswer(t, name, "A 203.0.113.7 203.0.113.9")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, name)
	f.after(f.again)
	f.reconcile(t, "web")
	f.wantAnswer(t, name, "A 203.0.113.9")
}

// TestNothingIsWrittenTwice: what is written stays, and an only city that flaps changes nothing on the hub.
func TestNothingIsWrittenTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	f.serve(t, w, "DFW", "203.0.113.7")
	if writes := f.reconcile(t, "web"); len(writes) != 3 {
		t.Errorf("two names cost %v", writes)
	}
	if writes := f.reconcile(t, "web"); len(writes) > 0 {
		t.Errorf("again: %v", writes)
	}
	for range 5 {
		for _, addresses := range []string{"", "203.0.113.7"} {
			f.serve(t, w, "DFW", addresses)
			f.after(time.Second)
			f.reconcile(t, "web")
			if writes := f.Hub.Writes(); len(writes) > 0 {
				t.Errorf("a flap writes %v", writes)
			}
		}
	}
}

// TestCitiesApart: with settings of a provider of DNS, each city has a record of its own.
func TestCitiesApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconciler.SetProperty("*", "aws/weight", "100")
	f.reconciler.SetProperty("ord", "aws/weight", "50")
	f.reconciler.SetProperty("ord", "aws/geolocation-country-code", "US")
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.serve(t, w, "ORD", "203.0.113.8")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "DFW: A 203.0.113.7 [{aws/weight 100}]; "+
		"ORD: A 203.0.113.8 [{aws/geolocation-country-code US} {aws/weight 50}]")
	if writes := f.reconcile(t, "web"); len(writes) > 0 {
		t.Errorf("again: %v", writes)
	}
}

// TestHostNames: a name is an alias of one host name, or has IP addresses. The condition names the cities without.
func TestHostNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ dfw, ord, want, reason string }{
		"one":              {"a.lb.example", "", "CNAME a.lb.example", v1alpha.ReasonNamesProgrammed},
		"the same":         {"a.lb.example", "a.lb.example", "CNAME a.lb.example", v1alpha.ReasonNamesProgrammed},
		"two":              {"a.lb.example", "b.lb.example", "CNAME a.lb.example", v1alpha.ReasonCityLeftOut},
		"beside addresses": {"a.lb.example", "203.0.113.8", "A 203.0.113.8", v1alpha.ReasonCityLeftOut},
		"of one city":      {"203.0.113.7 a.lb.example", "203.0.113.8", "A 203.0.113.7 203.0.113.8", v1alpha.ReasonNamesProgrammed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := f.workload(t, "web")
			f.serve(t, w, "DFW", test.dfw)
			if test.ord != "" {
				f.serve(t, w, "ORD", test.ord)
			}
			f.reconcile(t, "web")
			f.wantAnswer(t, f.byPattern("web"), test.want)
			f.wantCondition(t, "web", test.reason, f.byPattern("web"))
		})
	}
}

// TestApex: the apex of a zone is never an alias, and the condition names it. The other names are.
func TestApex(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	f.serve(t, w, "DFW", "a.lb.example")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.own("www"), "CNAME a.lb.example")
	// An operator adds the setting, because the provider refuses the alias.
	f.reconciler.Apexes = []string{f.own("www"), f.own("new")}
	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service.Hostnames = append(w.Spec.Service.Hostnames, f.own("new")) })
	f.reconcile(t, "web")
	f.wantAnswer(t, f.own("www"), "")
	f.wantAnswer(t, f.own("new"), "")
	f.wantAnswer(t, f.byPattern("web"), "CNAME a.lb.example")
	message := f.wantCondition(t, "web", v1alpha.ReasonCityLeftOut, f.byPattern("web"), f.own("www")).Message
	if !strings.Contains(message, f.own("www")+" is the apex of a zone") || !strings.Contains(message, "DFW") {
		t.Errorf("the message is %q", message)
	}
	f.serve(t, w, "ORD", "203.0.113.8")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.own("www"), "A 203.0.113.8")
	f.wantAnswer(t, f.own("new"), "A 203.0.113.8")
}

// TestNamesAtGateways: a name that another project could have is not written, since no Gateway routes it.
func TestNamesAtGateways(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureGateway })
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "")
	f.wantAnswer(t, f.own("www"), "A 203.0.113.7")
	message := f.wantCondition(t, "web", v1alpha.ReasonNameNotAllowed, f.own("www")).Message
	if !strings.Contains(message, "no Gateway routes it") {
		t.Errorf("the message is %q", message)
	}
}

// TestANameThatAnotherHas: the Workload that has a name keeps it, and the other one gets it when it is free.
func TestANameThatAnotherHas(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconciler.Rules.Pattern = ""
	name := f.own("www")
	first, second := f.workload(t, "first", name), f.workload(t, "second", name)
	f.serve(t, first, "DFW", "203.0.113.7")
	f.serve(t, second, "DFW", "203.0.113.8")
	f.reconcile(t, "first")
	f.reconcile(t, "second")
	f.wantAnswer(t, name, "A 203.0.113.7")
	condition := f.wantCondition(t, "second", v1alpha.ReasonNameTaken)
	if !strings.Contains(condition.Message, "Workload "+f.Namespace.Name+"/first has the name") || f.again != retryInterval {
		t.Errorf("the message is %q, again after %s", condition.Message, f.again)
	}
	planes.Change(t, f.Planes, first, func(w *v1alpha.Workload) { w.Spec.Service.Hostnames = nil })
	f.reconcile(t, "first")
	f.wantCondition(t, "first", "")
	f.reconcile(t, "second")
	f.wantAnswer(t, name, "A 203.0.113.8")
	f.wantCondition(t, "second", v1alpha.ReasonNamesProgrammed, name)
}

// TestANameOfOthers: a DNSEndpoint that the add-on did not create, or of another project, is left as it is, and the
// message names nothing of the other project.
func TestANameOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reconciler.Rules.Pattern = ""
	foreign, other := f.own("foreign"), f.own("other")
	for name, labels := range map[string]map[string]string{
		foreign: nil,
		other: {
			v1alpha.LabelWorkloadUID: "uid", v1alpha.LabelWorkloadName: "secret", v1alpha.LabelProjectUID: "south-uid",
			v1alpha.LabelProjectNamespace: "hidden",
		},
	} {
		record := newRecord()
		record.SetNamespace(system)
		record.SetName(name)
		record.SetLabels(labels)
		record.Object["spec"] = map[string]any{"endpoints": []any{}}
		planes.Create(t, f.Planes, record)
	}
	w := f.workload(t, "web", foreign, other, f.own("free"))
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	f.wantAnswer(t, foreign, "")
	f.wantAnswer(t, other, "")
	f.wantAnswer(t, f.own("free"), "A 203.0.113.7")
	message := f.wantCondition(t, "web", v1alpha.ReasonNameTaken, f.own("free")).Message
	if !strings.Contains(message, "did not create") || !strings.Contains(message, "another project") ||
		strings.Contains(message, "secret") || strings.Contains(message, "hidden") {
		t.Errorf("the message is %q", message)
	}
}

// TestNamesThatAreNotAllowed: a domain that the operator withdraws, and a pattern that gives no name, write nothing.
func TestNamesThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	f.reconciler.Rules.Domains, f.reconciler.Rules.Pattern = nil, "{workload}..example.com"
	f.reconcile(t, "web")
	f.wantAnswer(t, f.own("www"), "")
	f.wantAnswer(t, f.byPattern("web"), "")
	f.wantCondition(t, "web", v1alpha.ReasonNameNotAllowed)
	f.reconciler.Rules.Pattern = ""
	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service.Hostnames = nil })
	f.reconcile(t, "web")
	f.wantCondition(t, "web", "")
}

// TestNamesGoWithTheWorkload: the names of a Workload that is not exposed any more, is being deleted or is gone are
// deleted, whichever replica finds them; a later Workload of its name has its own.
func TestNamesGoWithTheWorkload(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *fixture, *v1alpha.Workload){
		"not exposed": func(t *testing.T, f *fixture, w *v1alpha.Workload) {
			t.Helper()
			planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service = nil })
		},
		"being deleted": func(t *testing.T, f *fixture, w *v1alpha.Workload) {
			t.Helper()
			planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Finalizers = []string{v1alpha.FinalizerWorkload} })
			planes.Delete(t, f.Planes, w)
		},
		"gone": func(t *testing.T, f *fixture, w *v1alpha.Workload) {
			t.Helper()
			planes.Delete(t, f.Planes, w)
		},
		"recreated": func(t *testing.T, f *fixture, w *v1alpha.Workload) {
			t.Helper()
			planes.Delete(t, f.Planes, w)
			f.workload(t, "web")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := f.workload(t, "web", f.own("www"))
			f.serve(t, w, "DFW", "203.0.113.7")
			f.reconcile(t, "web")
			f.wantAnswer(t, f.own("www"), "A 203.0.113.7")
			end(t, f, w)
			f.reconcile(t, "web")
			f.wantAnswer(t, f.own("www"), "")
			f.wantAnswer(t, f.byPattern("web"), "")
			left := &v1alpha.Workload{}
			if err := f.Client.Get(t.Context(), client.ObjectKeyFromObject(w), left); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			if meta.IsStatusConditionTrue(left.Status.Conditions, v1alpha.ConditionNamesProgrammed) || len(left.Status.Hostnames) > 0 {
				t.Errorf("the status still has the names %q: %+v", left.Status.Hostnames, left.Status.Conditions)
			}
		})
	}
}

// TestWithoutTheKind: without DNSEndpoints on the hub, the condition refers to status.endpoints.
func TestWithoutTheKind(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	records := f.reconciler.Records
	f.reconciler.Records = &Records{Namespace: system}
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	if writes := f.reconcile(t, "web"); len(writes) > 0 || f.again != startInterval {
		t.Errorf("before the hub has answered: %v, again after %s", writes, f.again)
	}
	f.reconciler.Records.absent = true
	f.reconcile(t, "web")
	condition := f.wantCondition(t, "web", v1alpha.ReasonNamesNotServed)
	if !strings.Contains(condition.Message, "status.endpoints") || f.again != retryInterval {
		t.Errorf("the message is %q, again after %s", condition.Message, f.again)
	}
	f.reconciler.Records = records
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
}

// TestOwnerOfAName: the hub namespace owns it, so that the hub deletes it with the project's leftovers.
func TestOwnerOfAName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	record := f.record(t, f.byPattern("web"))
	if owners := record.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != "Namespace" || owners[0].Name != f.HubNamespace {
		t.Errorf("the owners are %v", owners)
	}
	if projects.NameOf(record) != planes.ProjectName || requestOf(record) != f.request("web") {
		t.Errorf("its Workload is %v", requestOf(record))
	}
}

// TestAChangedNameIsRestored: fields of the spec that others changed are written again, and deleted names too.
func TestAChangedNameIsRestored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	record := f.record(t, f.byPattern("web"))
	record.Object["spec"] = map[string]any{"endpoints": []any{map[string]any{
		"dnsName": f.byPattern("web"), "recordType": "A", "targets": []any{"198.51.100.1"}, "labels": map[string]any{"a": "b"},
	}}}
	if err := f.Client.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
	if found, _, _ := unstructured.NestedSlice(f.record(t, f.byPattern("web")).Object, "spec", "endpoints"); strings.Contains(
		strings.Join(keys(found[0]), " "), "labels") {
		t.Errorf("it keeps %v", found[0])
	}
	planes.Delete(t, f.Planes, f.record(t, f.byPattern("web")))
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
}

func keys(of any) (result []string) {
	content, _ := of.(map[string]any)
	for key := range content {
		result = append(result, key)
	}
	return result
}

// TestACacheThatLags: a name that the Workload has already is not taken.
func TestACacheThatLags(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.reconcile(t, "web")
	f.serve(t, w, "DFW", "203.0.113.8")
	f.reconciler.Records.use(t.Context(), emptyReader{f.Hub})
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.8")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, f.byPattern("web"))
}

// emptyReader is a cache that has seen no DNSEndpoint yet.
type emptyReader struct{ client.Reader }

func (emptyReader) List(_ context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	return nil
}

// TestNamesWithAFault: the names and the status are right in the end, whichever write fails.
func TestNamesWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		f.Hub.Through(faults)
		f.Project.Through(faults)
		settle := func() {
			for range 4 {
				faults.Reconcile(t, func() error {
					_, err := f.reconciler.Reconcile(t.Context(), f.request("web"))
					return err
				})
			}
		}
		w := f.workload(t, "web", f.own("www"))
		f.serve(t, w, "DFW", "203.0.113.7")
		settle()
		f.wantAnswer(t, f.own("www"), "A 203.0.113.7")
		f.serve(t, w, "DFW", "203.0.113.8")
		settle()
		f.wantAnswer(t, f.own("www"), "A 203.0.113.8")
		f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, f.byPattern("web"), f.own("www"))
		planes.Delete(t, f.Planes, w)
		settle()
		f.wantAnswer(t, f.own("www"), "")
	})
}
