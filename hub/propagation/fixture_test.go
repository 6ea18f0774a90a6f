// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"os"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// failoverAfter is how long a cell may be lost in tests.
const failoverAfter = 5 * time.Minute

// fixture is deployment web of a project, in a city with one cell.
type fixture struct {
	*planes.Planes
	reconciler *Reconciler
	clock      *testingclock.FakePassiveClock
	city       string
	cell       *clusterv1alpha1.Cluster
	original   *v1alpha.WorkloadDeployment
	// wanted are the UIDs of the Workloads that recreate a deleted deployment.
	wanted map[types.UID]bool
	// suspended is the state of the project.
	suspended *suspension
	// gone: Milo does not have the project.
	gone bool
}

// suspension plays Milo's answer about a project.
type suspension struct {
	suspended bool
	tell      func(project string)
}

func (s *suspension) IsSuspended(project string) bool {
	return s.suspended && project == string(planes.ProjectName)
}
func (s *suspension) OnSuspension(f func(project string)) { s.tell = f }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		Planes: planes.New(t), city: planes.City(),
		clock:  testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
		wanted: map[types.UID]bool{}, suspended: &suspension{},
	}
	planes.Index(t, f.Hub, path.SliceIndex{})
	f.reconciler = New(Options{
		Projects: f.Planes, Hub: f.Hub, APIReader: f.HubAPI, FailoverAfter: failoverAfter, Clock: f.clock, Suspension: f.suspended,
		Wanted: func(_ context.Context, _ client.Reader, d *v1alpha.WorkloadDeployment) (bool, error) {
			return f.wanted[d.Spec.WorkloadRef.UID], nil
		},
	})
	f.reconciler.Owners = ownership.New(ownership.Options{Projects: f.Planes, Milo: f, Brake: f, Recreated: f.reconciler.Wanted})
	f.reconciler.Grants = projects.NewGrants(f.Hub)
	f.cell = f.Cell(t, f.city)
	f.original = planes.Create(t, f.Planes, f.Deployment("web", f.city))
	return f
}

// Lookup, Owns and Held play Milo's root.
func (f *fixture) Lookup(_ context.Context, project string) (types.UID, bool, error) {
	return planes.ProjectUID, !f.gone && project == planes.ProjectName.String(), nil
}

func (*fixture) Owns(naming.ShardKey) bool { return true }

func (f *fixture) Held(context.Context) (string, error) { return "the brake of the test", nil }

func (f *fixture) request(name string) mcreconcile.Request {
	return mcreconcile.Request{
		ClusterName: planes.ProjectName,
		Request:     reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.Namespace.Name, Name: name}},
	}
}

func (f *fixture) reconcile(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return f.reconciler.Reconcile(t.Context(), f.request("web"))
}

// mustReconcile reconciles a deployment and returns the writes.
func (f *fixture) mustReconcile(t *testing.T, name string) []planes.Call {
	t.Helper()
	f.Hub.Calls()
	f.Project.Calls()
	if _, err := f.reconciler.Reconcile(t.Context(), f.request(name)); err != nil {
		t.Fatal(err)
	}
	writes := append(f.Project.Writes(), f.Hub.Writes()...)
	f.wantAcceptedByCells(t, name)
	return writes
}

// wantAcceptedByCells checks that the annotation of a copy has the hashes of the copy as the hub stores it.
func (f *fixture) wantAcceptedByCells(t *testing.T, name string) {
	t.Helper()
	copied := &v1alpha.WorkloadDeployment{}
	err := f.Client.Get(t.Context(), client.ObjectKey{Namespace: f.HubNamespace, Name: name}, copied)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if overridden := templates.OverriddenFields(copied); len(overridden) > 0 {
		t.Errorf("a cell would refuse spec.%v of the copy", overridden)
	}
}

// mustLookAgain reconciles a deployment that waits for a deletion, whose event may be lost.
func (f *fixture) mustLookAgain(t *testing.T, name string) {
	t.Helper()
	result, err := f.reconciler.Reconcile(t.Context(), f.request(name))
	if err != nil {
		t.Fatal(err)
	}
	if result.RequeueAfter == 0 || result.RequeueAfter > time.Minute {
		t.Errorf("it waits for an event alone, and looks again after %s", result.RequeueAfter)
	}
}

func (f *fixture) readOriginal(t *testing.T) *v1alpha.WorkloadDeployment {
	t.Helper()
	return planes.Get(t, f.Planes, f.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
}

// The deployment's objects on the hub, with only their names.

func (f *fixture) namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.HubNamespace}}
}

func (f *fixture) work() *workv1alpha1.Work { return f.workIn(f.cell) }

func (f *fixture) workIn(cell *clusterv1alpha1.Cluster) *workv1alpha1.Work {
	return &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(cell.Name), Name: karmadanames.GenerateWorkName("Namespace", f.HubNamespace, ""),
	}}
}

func (f *fixture) policy() *policyv1alpha1.PropagationPolicy {
	return &policyv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: policies.IndependentCityPolicyName(f.city)},
	}
}

func (f *fixture) copied() *v1alpha.WorkloadDeployment {
	return &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: "web"}}
}

// read reads an object that one of the functions above names.
func read[T client.Object](t *testing.T, f *fixture, obj T) T {
	t.Helper()
	return planes.Get(t, f.Planes, obj.GetNamespace(), obj.GetName(), obj)
}

// hold adds a finalizer to an object, so that it remains when it is deleted, and end removes all finalizers.
func hold[T client.Object](t *testing.T, f *fixture, obj T) {
	t.Helper()
	planes.Change(t, f.Planes, obj, func(o T) { o.SetFinalizers(append(o.GetFinalizers(), "example.com/held")) })
}

func end[T client.Object](t *testing.T, f *fixture, obj T) {
	t.Helper()
	planes.Change(t, f.Planes, obj, func(o T) { o.SetFinalizers(nil) })
}
