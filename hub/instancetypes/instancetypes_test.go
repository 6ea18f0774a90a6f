// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instancetypes

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// The tests share one set of types, since hub and project are on one API server: they run one after the other.

func newCatalogue(t *testing.T, p *planes.Planes) *Catalogue {
	t.Helper()
	return NewCatalogue(CatalogueOptions{
		Hub: p.Hub, Clock: testingclock.NewFakeClock(time.Now()), Registerer: prometheus.NewRegistry(), Log: logr.Discard(),
	})
}

func newType(name, cpu string) *v1alpha.InstanceType {
	return &v1alpha.InstanceType{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha.InstanceTypeSpec{
		Resources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi")},
	}}
}

func deleteAll(t *testing.T, p *planes.Planes) {
	t.Helper()
	if err := p.Client.DeleteAllOf(t.Context(), &v1alpha.InstanceType{}); err != nil {
		t.Fatal(err)
	}
}

func names(types []v1alpha.InstanceType) string {
	var all []string
	for i := range types {
		all = append(all, types[i].Name)
	}
	return strings.Join(all, " ")
}

// TestTheKind checks the validation and the defaults of the schema.
func TestTheKind(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	kind := planes.Create(t, p, newType("a", "1"))
	if kind.Spec.Lifecycle.Phase != v1alpha.InstanceTypeActive {
		t.Errorf("phase is %q", kind.Spec.Lifecycle.Phase)
	}
	to := func(phase v1alpha.InstanceTypePhase) error {
		kind.Spec.Lifecycle.Phase = phase
		return p.Client.Update(t.Context(), kind)
	}
	if err := errors.Join(to(v1alpha.InstanceTypeDeprecated), to(v1alpha.InstanceTypeDisabled)); err != nil {
		t.Error(err)
	}
	if err := to(v1alpha.InstanceTypeActive); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "only goes forward") {
		t.Errorf("got %v", err)
	}
	small := newType("b", "1")
	delete(small.Spec.Resources, corev1.ResourceMemory)
	if err := p.Client.Create(t.Context(), small); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "must have cpu and memory") {
		t.Errorf("got %v", err)
	}
}

// TestCatalogue: known types remain known while the hub does not answer, and subscribers are called only for changes.
func TestCatalogue(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	planes.Create(t, p, newType("b", "1"))
	planes.Create(t, p, newType("a", "1"))
	catalogue, changes := newCatalogue(t, p), 0
	catalogue.OnChange(func() { changes++ })
	if got, err := catalogue.Types(t.Context()); err != nil || names(got) != "a b" {
		t.Errorf("got %s, %v", names(got), err)
	}
	p.Hub.Calls()
	if _, err := catalogue.Types(t.Context()); err != nil || len(p.Hub.Calls()) > 0 {
		t.Errorf("it asks again, %v", err)
	}
	if _, err := catalogue.Fresh(t.Context()); err != nil || changes != 1 {
		t.Errorf("%d changes, %v", changes, err)
	}
	away := errors.New("away")
	p.Hub.Before(func(planes.Call) error { return away })
	if _, err := catalogue.Fresh(t.Context()); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	if got, err := catalogue.Types(t.Context()); err != nil || names(got) != "a b" || changes != 1 {
		t.Errorf("got %s, %v, %d changes", names(got), err, changes)
	}
}

// TestConfirmed: a hub that has been unavailable for longer than that is asked, and its failure is no answer.
func TestConfirmed(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	planes.Create(t, p, newType("a", "1"))
	now := testingclock.NewFakeClock(time.Now())
	catalogue := newCatalogue(t, p)
	catalogue.options.Clock = now
	if got, err := catalogue.Confirmed(t.Context(), time.Minute); err != nil || names(got) != "a" {
		t.Fatalf("got %s, %v", names(got), err)
	}
	away := errors.New("away")
	p.Hub.Before(func(planes.Call) error { return away })
	p.Hub.Calls()
	now.Step(time.Minute)
	if got, err := catalogue.Confirmed(t.Context(), time.Minute); err != nil || names(got) != "a" || len(p.Hub.Calls()) > 0 {
		t.Errorf("got %s, %v", names(got), err)
	}
	now.Step(time.Second)
	if got, err := catalogue.Confirmed(t.Context(), time.Minute); !errors.Is(err, away) || got != nil ||
		!strings.Contains(err.Error(), "has not confirmed its instance types for 1m1s") {
		t.Errorf("got %s, %v", names(got), err)
	}
	p.Hub.Before(nil)
	if got, err := catalogue.Confirmed(t.Context(), time.Minute); err != nil || names(got) != "a" {
		t.Errorf("got %s, %v", names(got), err)
	}
}

// TestCatalogueOfAHubWithoutTypes: a kind that is not served is reported, until it is served.
func TestCatalogueOfAHubWithoutTypes(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	planes.Create(t, p, newType("a", "1"))
	catalogue, changes := newCatalogue(t, p), 0
	catalogue.OnChange(func() { changes++ })
	if _, err := catalogue.Fresh(t.Context()); err != nil || changes != 1 {
		t.Errorf("%d changes, %v", changes, err)
	}
	p.Hub.Before(func(planes.Call) error {
		return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "InstanceType"}}
	})
	if _, err := catalogue.Fresh(t.Context()); !errors.Is(err, ErrNotServed) || changes != 2 || testutil.ToFloat64(catalogue.served) != 0 {
		t.Errorf("%d changes, %v", changes, err)
	}
	if _, err := catalogue.Types(t.Context()); !errors.Is(err, ErrNotServed) {
		t.Errorf("got %v", err)
	}
	p.Hub.Before(nil)
	if _, err := catalogue.Fresh(t.Context()); err != nil || changes != 3 || testutil.ToFloat64(catalogue.served) != 1 {
		t.Errorf("%d changes, %v", changes, err)
	}
}

// TestTheFirstType is created if none exists, once: an operator may delete it.
func TestTheFirstType(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	catalogue := newCatalogue(t, p)
	catalogue.makeFirst(t.Context(), nil)
	got, err := catalogue.Types(t.Context())
	if err != nil || names(got) != First().Name {
		t.Errorf("got %s, %v", names(got), err)
	}
	p.Hub.Calls()
	catalogue.makeFirst(t.Context(), got)
	if writes := p.Hub.Writes(); len(writes) > 0 {
		t.Errorf("writes %v", writes)
	}
}

// TestTypesAreOffered: a project has the types of the hub, even after they were changed there, and a settled project
// costs a list. Hub and project are one API server here, so the hub's types are the types in the catalogue.
func TestTypesAreOffered(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	catalogue := newCatalogue(t, p)
	reconciler := &Reconciler{Projects: p, Types: catalogue}
	reconcile := func() []planes.Call {
		t.Helper()
		p.Project.Calls()
		result, err := reconciler.Reconcile(t.Context(), mcreconcile.Request{ClusterName: planes.ProjectName})
		if err != nil || result.RequeueAfter != resync {
			t.Errorf("got %+v, %v", result, err)
		}
		return p.Project.Writes()
	}
	defaulted := *newType("a", "1")
	defaulted.Spec.Lifecycle.Phase = v1alpha.InstanceTypeActive
	other := *newType("b", "2")
	other.Spec.Lifecycle.Phase = v1alpha.InstanceTypeDeprecated
	catalogue.remember([]v1alpha.InstanceType{defaulted, other}, nil)
	if writes := reconcile(); len(writes) != 2 {
		t.Errorf("writes %v", writes)
	}
	if writes := reconcile(); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
	planes.Change(t, p, newType("a", "1"), func(kind *v1alpha.InstanceType) {
		kind.Spec.Resources[corev1.ResourceCPU] = resource.MustParse("64")
		kind.Spec.DisplayName = "mine"
	})
	planes.Create(t, p, newType("own", "1"))
	catalogue.remember([]v1alpha.InstanceType{defaulted}, nil)
	reconcile()
	var left v1alpha.InstanceTypeList
	if err := p.Client.List(t.Context(), &left); err != nil || names(left.Items) != "a" {
		t.Fatalf("left are %s, %v", names(left.Items), err)
	}
	if got := left.Items[0].Spec; got.Resources.Cpu().String() != "1" || got.DisplayName != "" {
		t.Errorf("spec %+v", got)
	}
	p.Project.Before(func(planes.Call) error { return apierrors.NewNotFound(schema.GroupResource{}, "") })
	if writes := reconcile(); slices.ContainsFunc(writes, func(c planes.Call) bool { return c.Verb != "list" }) {
		t.Errorf("in a project that does not serve the kind, it writes %v", writes)
	}
	p.Project.Before(nil)
	catalogue.remember(nil, ErrNotServed)
	if result, err := reconciler.Reconcile(t.Context(),
		mcreconcile.Request{ClusterName: planes.ProjectName}); err != nil || result.RequeueAfter != 0 {
		t.Errorf("got %+v, %v", result, err)
	}
	if err := p.Client.Get(t.Context(), client.ObjectKey{Name: "a"}, &v1alpha.InstanceType{}); err != nil {
		t.Error(err)
	}
}

// TestATypeThatIsOfferedAgain: a copy that was created again just before its deletion stays.
func TestATypeThatIsOfferedAgain(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	catalogue := newCatalogue(t, p)
	reconciler := &Reconciler{Projects: p, Types: catalogue}
	catalogue.remember([]v1alpha.InstanceType{*newType("a", "1")}, nil)
	planes.Create(t, p, newType("b", "1"))
	p.Project.Once("delete", "InstanceType", func() error {
		planes.Delete(t, p, newType("b", "1"))
		planes.Create(t, p, newType("b", "2"))
		return nil
	})
	if _, err := reconciler.Reconcile(t.Context(), mcreconcile.Request{ClusterName: planes.ProjectName}); err == nil {
		t.Error("the conflict is not retried")
	}
	if !planes.Exists(t, p, newType("b", "2")) {
		t.Error("the later copy is deleted")
	}
}

// visits are of one project that no replica has engaged.
type visits struct {
	offer func(ctx context.Context, project string, c client.Client) error
	all   int
}

func (v *visits) OnVisit(f func(ctx context.Context, project string, c client.Client) error) {
	v.offer = f
}
func (v *visits) VisitAll() { v.all++ }

// TestTypesAreOfferedAtVisits: all projects are visited when the types change, but not when a replica first reads them.
func TestTypesAreOfferedAtVisits(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	v, catalogue := &visits{}, newCatalogue(t, p)
	(&Reconciler{Types: catalogue}).offerAtVisits(v)
	kind := *newType("a", "1")
	kind.Spec.Lifecycle.Phase = v1alpha.InstanceTypeActive
	catalogue.remember([]v1alpha.InstanceType{kind}, nil)
	if v.all != 0 {
		t.Error("the start of a replica has all projects visited")
	}
	visit := func() []planes.Call {
		t.Helper()
		p.Project.Calls()
		if err := v.offer(t.Context(), "north", p.Project); err != nil {
			t.Error(err)
		}
		return p.Project.Writes()
	}
	if writes := visit(); len(writes) != 1 {
		t.Errorf("writes %v", writes)
	}
	if writes := visit(); len(writes) > 0 {
		t.Errorf("when nothing has changed, it writes %v", writes)
	}
	catalogue.remember([]v1alpha.InstanceType{}, nil)
	if v.all != 1 {
		t.Errorf("%d times all projects are due", v.all)
	}
	if writes := visit(); len(writes) != 1 || writes[0].Verb != "delete" {
		t.Errorf("writes %v", writes)
	}
}

// TestDeprecations: the time of a deprecation is recorded once, by any replica, and projects show it.
func TestDeprecations(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	catalogue, now := newCatalogue(t, p), testingclock.NewFakeClock(time.Unix(1_800_000_000, 0))
	catalogue.options.Clock = now
	record := func(of *Catalogue) []planes.Call {
		t.Helper()
		types, err := of.Fresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.Hub.Calls()
		of.recordDeprecations(t.Context(), types)
		return p.Hub.Writes()
	}
	kind := planes.Create(t, p, newType("a", "1"))
	if writes := record(catalogue); len(writes) > 0 {
		t.Errorf("of an active type, it writes %v", writes)
	}
	planes.Change(t, p, kind, func(kind *v1alpha.InstanceType) { kind.Spec.Lifecycle.Phase = v1alpha.InstanceTypeDeprecated })
	deprecated := now.Now()
	if writes := record(catalogue); len(writes) != 1 {
		t.Errorf("writes %v", writes)
	}
	now.Step(time.Hour)
	if writes := record(catalogue); len(writes) > 0 {
		t.Errorf("a second time, it writes %v", writes)
	}
	types, err := catalogue.Types(t.Context())
	if err != nil || !types[0].Status.DeprecatedAt.Time.Equal(deprecated) {
		t.Errorf("got %+v, %v", types, err)
	}
	// Hub and project are one API server here: the copy has lost the time that the hub knows.
	planes.ChangeStatus(t, p, kind, func(kind *v1alpha.InstanceType) { kind.Status.DeprecatedAt = nil })
	reconciler := &Reconciler{Projects: p, Types: catalogue}
	for _, want := range []int{1, 0} {
		p.Project.Calls()
		if _, err := reconciler.Reconcile(t.Context(), mcreconcile.Request{ClusterName: planes.ProjectName}); err != nil {
			t.Fatal(err)
		}
		if writes := p.Project.Writes(); len(writes) != want {
			t.Errorf("writes %v, want %d", writes, want)
		}
	}
	if got := planes.Get(t, p, "", "a", &v1alpha.InstanceType{}); !got.Status.DeprecatedAt.Time.Equal(deprecated) {
		t.Errorf("status %+v", got.Status)
	}
}

// TestDeprecationsOfAnEarlierCRD: without a status no grace period begins, and the failure is recorded.
func TestDeprecationsOfAnEarlierCRD(t *testing.T) {
	p := planes.New(t)
	deleteAll(t, p)
	kind := newType("a", "1")
	kind.Spec.Lifecycle.Phase = v1alpha.InstanceTypeDeprecated
	planes.Create(t, p, kind)
	catalogue := newCatalogue(t, p)
	types, err := catalogue.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.Hub.Before(func(call planes.Call) error {
		if call.Verb == "list" {
			return nil
		}
		return apierrors.NewNotFound(schema.GroupResource{}, "")
	})
	catalogue.recordDeprecations(t.Context(), types)
	if !strings.Contains(catalogue.unrecorded, "apply the CRD") {
		t.Errorf("the failure is %q", catalogue.unrecorded)
	}
	p.Hub.Before(nil)
	catalogue.recordDeprecations(t.Context(), types)
	if got := planes.Get(t, p, "", "a", &v1alpha.InstanceType{}); got.Status.DeprecatedAt == nil || catalogue.unrecorded != "" {
		t.Errorf("status %+v, failure %q", got.Status, catalogue.unrecorded)
	}
}
