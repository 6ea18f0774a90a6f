// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"errors"
	"strings"
	"testing"

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
	f.Hub.Before(func(planes.Call) error { return &meta.NoKindMatchError{GroupKind: Kind.GroupKind()} })
	if got, err := stored.Answers(t.Context(), f.origin(), w.UID); err != nil || len(got) > 0 {
		t.Errorf("without the kind %v, %v", got, err)
	}
	f.Hub.Before(func(planes.Call) error { return testenv.ErrFault })
	if _, err := stored.Answers(t.Context(), f.origin(), w.UID); err == nil {
		t.Error("a hub that does not answer has no names")
	}
}
