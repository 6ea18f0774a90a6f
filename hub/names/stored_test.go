// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestNamesThatAreNotWritten: a hub that refuses a DNSEndpoint, or its deletion, is a reason with its answer. The others
// are written.
func TestNamesThatAreNotWritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web", f.own("www"))
	f.serve(t, w, "DFW", "203.0.113.7")
	f.serve(t, w, "ORD", "203.0.113.8")
	f.reconcile(t, "web")
	refuse := func(call planes.Call) error {
		if call.Kind == Kind.Kind && call.Name == f.own("www") && call.Verb != "get" {
			return apierrors.NewForbidden(schema.GroupResource{Group: Kind.Group, Resource: "dnsendpoints"}, call.Name, errors.New("by policy x"))
		}
		return nil
	}
	refused := func() *metav1.Condition {
		t.Helper()
		f.Hub.Before(refuse)
		defer f.Hub.Before(nil)
		if _, err := f.reconciler.Reconcile(t.Context(), f.request("web")); err == nil {
			t.Error("it is not tried again")
		}
		return meta.FindStatusCondition(planes.Get(t, f.Planes, f.Namespace.Name, "web", &v1alpha.Workload{}).Status.Conditions,
			v1alpha.ConditionNamesProgrammed)
	}
	want := func(what string, condition *metav1.Condition) {
		t.Helper()
		if condition == nil || condition.Reason != v1alpha.ReasonNamesNotWritten || condition.Status != metav1.ConditionFalse ||
			!strings.Contains(condition.Message, "by policy x") {
			t.Errorf("%s: condition %+v", what, condition)
		}
	}
	f.after(time.Hour)
	f.serve(t, w, "ORD", "")
	want("a city leaves", refused())
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
	f.Project.Writes()
	refused()
	if writes := f.Project.Writes(); len(writes) > 0 {
		t.Errorf("the same answer is written again: %v", writes)
	}
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNamesProgrammed, f.byPattern("web"), f.own("www"))
	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureCluster })
	want("the exposure ends", refused())
	f.wantAnswer(t, f.byPattern("web"), "")
	f.reconcile(t, "web")
	f.wantCondition(t, "web", "")
	f.wantAnswer(t, f.own("www"), "")
}

// notServed is the answer to a request for a kind that the hub does not serve.
func notServed(call planes.Call) error {
	kind := schema.GroupResource{Group: Kind.Group, Resource: "dnsendpoints"}
	return apierrors.NewGenericServerResponse(http.StatusNotFound, call.Verb, kind, call.Name, "404 page not found", 0, true)
}

// TestTheKindGoes: names that the hub no longer serves have the reason of a hub without the kind, and keep their record.
func TestTheKindGoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.workload(t, "web")
	f.serve(t, w, "DFW", "203.0.113.7")
	goes := func(when string, held ...string) {
		t.Helper()
		f.Hub.Before(func(call planes.Call) error {
			if call.Kind == Kind.Kind && call.Verb != "list" {
				return notServed(call)
			}
			return nil
		})
		f.reconcile(t, "web")
		f.Hub.Before(nil)
		got := f.wantCondition(t, "web", v1alpha.ReasonNamesNotServed, held...)
		if !strings.Contains(got.Message, "status.endpoints") || f.again != retryInterval {
			t.Errorf("%s: message %q, again after %s", when, got.Message, f.again)
		}
		f.reconcile(t, "web")
	}
	goes("before the first write")
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7")
	f.serve(t, w, "ORD", "203.0.113.8")
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	goes("at a change", f.byPattern("web"))
	f.wantAnswer(t, f.byPattern("web"), "A 203.0.113.7 203.0.113.8")
	planes.Change(t, f.Planes, w, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureCluster })
	f.Hub.Before(func(call planes.Call) error {
		if call.Verb == "delete" {
			return notServed(call)
		}
		return nil
	})
	f.reconcile(t, "web")
	f.wantCondition(t, "web", v1alpha.ReasonNamesNotServed)
	f.Hub.Before(nil)
	f.reconcile(t, "web")
	f.wantAnswer(t, f.byPattern("web"), "")
}

// TestStoredAnswers: the addresses of a Workload's names are read past every cache, and of no other Workload.
func TestStoredAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w, other := f.workload(t, "web", f.own("www")), f.workload(t, "other")
	f.serve(t, w, "DFW", "203.0.113.7")
	f.serve(t, other, "DFW", "203.0.113.9")
	f.reconcile(t, "web")
	f.reconcile(t, "other")
	stored := &Stored{APIReader: f.Hub, Namespace: system}
	if got, err := stored.Answers(t.Context(), f.origin(), w.UID); err != nil || strings.Join(got, " ") != "203.0.113.7 203.0.113.7" {
		t.Errorf("the names answer %v, %v", got, err)
	}
	for _, answer := range []error{
		testenv.ErrFault, &meta.NoKindMatchError{GroupKind: Kind.GroupKind()}, notServed(planes.Call{Verb: "list"}),
	} {
		f.Hub.Before(func(planes.Call) error { return answer })
		if got, err := stored.Answers(t.Context(), f.origin(), w.UID); err == nil {
			t.Errorf("after %v the names have %v", answer, got)
		}
	}
}
