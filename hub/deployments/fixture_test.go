// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// locations are one location in each city that the project may use, and others.
type locations struct {
	cities string
	others []cities.Location
	err    error
}

func (*locations) Object() client.Object { return &corev1.ConfigMap{} }

func (l *locations) List(context.Context, client.Reader) ([]cities.Location, error) {
	return append(simulated.Locations(l.cities), l.others...), l.err
}

// lacking are the networks that the project lacks.
type lacking struct{ missing []string }

func (l *lacking) Missing(_ context.Context, _ projects.Project, named []types.NamespacedName) []types.NamespacedName {
	return slices.DeleteFunc(named, func(n types.NamespacedName) bool { return !slices.Contains(l.missing, n.Name) })
}

// fixture is a project in which the reconciler maintains the deployments of Workload web.
type fixture struct {
	*planes.Planes
	reconciler *Reconciler
	locations  *locations
	networks   *lacking
	clock      *testingclock.FakePassiveClock
	// requeues says that the Workload may be requeued.
	requeues bool
}

// testBegin is when a test begins.
var testBegin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newFixture(t *testing.T, cities string) *fixture {
	t.Helper()
	f := &fixture{
		Planes: planes.New(t), locations: &locations{cities: cities}, networks: &lacking{},
		clock: testingclock.NewFakePassiveClock(testBegin),
	}
	planes.Index(t, f.Project, byWorkload)
	f.reconciler = &Reconciler{
		Projects: f.Planes, Locations: f.locations, Networks: f.networks, Clock: f.clock,
	}
	return f
}

// workload creates Workload web with a placement for each name and its cities.
func (f *fixture) workload(t *testing.T, placements ...string) *v1alpha.Workload {
	t.Helper()
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web"}}
	workload.Spec.Template = planes.Template("registry.example/app:1")
	workload.Spec.Placements = placementsOf(placements)
	return planes.Create(t, f.Planes, workload)
}

// ofAnEarlierWorkload returns a deployment of an earlier Workload web, which the garbage collector has not deleted.
func (f *fixture) ofAnEarlierWorkload(name, city string) *v1alpha.WorkloadDeployment {
	earlier := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "of-an-earlier-one"}}
	deployment := f.Deployment(name, city)
	deployment.Labels[v1alpha.LabelWorkloadUID] = string(earlier.UID)
	deployment.Spec.WorkloadRef.UID = earlier.UID
	deployment.OwnerReferences = []metav1.OwnerReference{earlier.ControllerReference()}
	return deployment
}

// placementsOf parses placements such as "main DFW ORD".
func placementsOf(placements []string) []v1alpha.WorkloadPlacement {
	var result []v1alpha.WorkloadPlacement
	for _, placement := range placements {
		words := strings.Fields(placement)
		result = append(result, v1alpha.WorkloadPlacement{
			Name: words[0], CityCodes: words[1:], ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 2},
		})
	}
	return result
}

func (f *fixture) request() mcreconcile.Request {
	return mcreconcile.Request{
		ClusterName: planes.ProjectName,
		Request:     reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.Namespace.Name, Name: "web"}},
	}
}

// reconcile reconciles a new Workload twice, like the event of its finalizer.
func (f *fixture) reconcile(t *testing.T) error {
	t.Helper()
	var workload v1alpha.Workload
	found := client.IgnoreNotFound(f.Client.Get(t.Context(), f.request().NamespacedName, &workload))
	result, err := f.reconciler.Reconcile(t.Context(), f.request())
	if found == nil && err == nil && workload.UID != "" && len(workload.Finalizers) == 0 {
		result, err = f.reconciler.Reconcile(t.Context(), f.request())
	}
	if err == nil && result.RequeueAfter != 0 && !f.requeues && len(f.networks.missing) == 0 &&
		f.readWorkload(t).Status.LastProgressTime == nil {
		t.Errorf("it is requeued after %s, without a deadline", result.RequeueAfter)
	}
	return err
}

// mustReconcile reconciles and returns the writes.
func (f *fixture) mustReconcile(t *testing.T) []planes.Call {
	t.Helper()
	f.Project.Calls()
	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	return f.Project.Writes()
}

// withdraw ends the deletion of deployments, as propagation does when none of their objects is left on the hub.
func (f *fixture) withdraw(t *testing.T) {
	t.Helper()
	var list v1alpha.WorkloadDeploymentList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if deployment := &list.Items[i]; !deployment.DeletionTimestamp.IsZero() &&
			controllerutil.RemoveFinalizer(deployment, v1alpha.FinalizerPropagation) {
			if err := f.Client.Update(t.Context(), deployment); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (f *fixture) readWorkload(t *testing.T) *v1alpha.Workload {
	t.Helper()
	return planes.Get(t, f.Planes, f.Namespace.Name, "web", &v1alpha.Workload{})
}

func (f *fixture) readDeployment(t *testing.T, name string) *v1alpha.WorkloadDeployment {
	t.Helper()
	return planes.Get(t, f.Planes, f.Namespace.Name, name, &v1alpha.WorkloadDeployment{})
}

// names returns the names of all deployments in the namespace.
func (f *fixture) names(t *testing.T) string {
	t.Helper()
	var list v1alpha.WorkloadDeploymentList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return strings.Join(names, " ")
}

// newServing is a fixture with Workload web, which is exposed and serves in DFW and ORD.
func newServing(t *testing.T, drain *int32) (*fixture, *v1alpha.Workload) {
	t.Helper()
	f := newFixture(t, "DFW ORD")
	f.requeues = true
	workload := f.workload(t, "main DFW ORD")
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) {
		w.Spec.Service = &v1alpha.WorkloadService{
			Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: v1alpha.ServiceExposureLoadBalancer, DrainSeconds: drain,
		}
	})
	f.mustReconcile(t)
	f.serve(t, "web-main-dfw", "DFW", "203.0.113.7")
	f.serve(t, "web-main-ord", "ORD", "203.0.113.8")
	f.mustReconcile(t)
	return f, workload
}

// serve plays hub/projection: a city serves at an address.
func (f *fixture) serve(t *testing.T, name, city, address string) {
	t.Helper()
	planes.ChangeStatus(t, f.Planes, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
		d.Status.Endpoints = []v1alpha.CityEndpoint{{
			City: city, Serving: true, Since: metav1.NewTime(testBegin),
			Addresses: []v1alpha.EndpointAddress{{Type: v1alpha.EndpointAddressIP, Value: address}},
		}}
	})
}

func inCities(codes ...string) func(*v1alpha.Workload) {
	return func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = codes }
}

// wantEndpoints checks which cities of the Workload serve.
func (f *fixture) wantEndpoints(t *testing.T, want string) {
	t.Helper()
	var got []string
	for _, endpoint := range f.readWorkload(t).Status.Endpoints {
		got = append(got, strings.TrimSpace(endpoint.City+" "+endpoint.Reason))
	}
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("endpoints %q, want %q", text, want)
	}
}

// leaving reports whether a deployment is deleted, or about to be.
func (f *fixture) leaving(t *testing.T, name string) bool {
	t.Helper()
	return !strings.Contains(f.names(t), name) || !f.readDeployment(t, name).DeletionTimestamp.IsZero()
}
