// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/milo/networking"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// places are the locations of a project.
type places []cities.Location

func (places) Object() client.Object { return nil }

func (p *places) List(context.Context, client.Reader) ([]cities.Location, error) {
	if *p == nil {
		return nil, fmt.Errorf("list them: %w", cities.ErrLocationsNotServed)
	}
	return slices.Clone(*p), nil
}

// binding is a deployment in a project, and the Binder of its networks.
type binding struct {
	*planes.Planes
	t          *testing.T
	served     bool
	clock      *testingclock.FakePassiveClock
	places     *places
	binder     *Binder
	deployment *v1alpha.WorkloadDeployment
}

func newBinding(t *testing.T) *binding {
	t.Helper()
	b := &binding{
		Planes: planes.New(t), t: t, clock: testingclock.NewFakePassiveClock(time.Now()),
		places: &places{{Name: "dfw-1", City: "DFW", Available: true}, {Name: "iad-1", City: "IAD", Available: true}},
	}
	b.binder = NewBinder(b.places, b.clock, prometheus.NewRegistry())
	b.deployment = b.Deployment("web", "DFW")
	b.deployment.Spec.Template.Spec.NetworkInterfaces = []v1alpha.InstanceNetworkInterface{
		{Network: v1alpha.NetworkReference{Name: "default"}},
	}
	planes.Create(t, b.Planes, b.deployment)
	return b
}

func (b *binding) project() projects.Project {
	b.t.Helper()
	cluster, err := b.Get(b.t.Context(), planes.ProjectName)
	if err != nil {
		b.t.Fatal(err)
	}
	return projects.Project{Cluster: cluster, Name: "north", UID: planes.ProjectUID}
}

// bind calls Bind once, and returns the number of requests.
func (b *binding) bind(wantReady bool, wantMessage string) int {
	b.t.Helper()
	b.Project.Calls()
	got, err := b.binder.Bind(b.t.Context(), b.project(), b.deployment)
	if err != nil {
		b.t.Fatal(err)
	}
	if b.served != (got != nil) {
		b.t.Fatalf("bound is %+v", got)
	}
	if !b.served {
		return len(b.Project.Calls())
	}
	if got.Ready != wantReady || !strings.Contains(got.Message, wantMessage) {
		b.t.Errorf("bound is %+v, want %t %q", got, wantReady, wantMessage)
	}
	return len(b.Project.Calls())
}

// serve adds NetworkBindings to the kinds that the project serves.
func (b *binding) serve() {
	b.t.Helper()
	serveKind(b.t, b.Planes, "networkbindings", networking.KindNetworkBinding)
	b.served = true
}

// stored returns the bindings of the deployment, by network and location.
func (b *binding) stored() map[string]*networking.NetworkBinding {
	b.t.Helper()
	var list networking.NetworkBindingList
	if err := b.Project.List(b.t.Context(), &list, client.InNamespace(b.Namespace.Name)); err != nil {
		b.t.Fatal(err)
	}
	stored := map[string]*networking.NetworkBinding{}
	for i := range list.Items {
		spec := &list.Items[i].Spec
		stored[spec.Network.Name+"@"+spec.Location.Name] = &list.Items[i]
	}
	return stored
}

// answer plays the network service, which sets the condition of a binding.
func (b *binding) answer(name string, status metav1.ConditionStatus) {
	b.t.Helper()
	stored := b.stored()[name]
	if stored == nil {
		b.t.Fatalf("there is no binding %s", name)
	}
	planes.ChangeStatus(b.t, b.Planes, stored, func(n *networking.NetworkBinding) {
		n.Status.Conditions = []metav1.Condition{{
			Type: networking.ConditionReady, Status: status, Reason: "NetworkContextNotReady", Message: "a moment", LastTransitionTime: metav1.Now(),
		}}
	})
}

// TestBind: a network is bound to each location of the city, waited for, and not read again.
func TestBind(t *testing.T) {
	b := newBinding(t)
	b.Project.Before(func(planes.Call) error {
		return apierrors.NewGenericServerResponse(http.StatusNotFound, "get",
			networking.GroupVersion.WithResource("").GroupResource(), "", "no such resource", 0, true)
	})
	b.bind(true, "")
	b.Project.Before(nil)
	if requests := b.bind(true, ""); requests != 0 {
		t.Errorf("a project without the kind is asked %d times again", requests)
	}
	b.serve()
	b.clock.SetTime(b.clock.Now().Add(presentFor + time.Second))

	b.bind(false, "network default is not in location dfw-1 yet")
	stored := b.stored()
	if len(stored) != 1 || stored["default@dfw-1"] == nil {
		t.Fatalf("there are %v", stored)
	}
	made := stored["default@dfw-1"]
	if len(made.OwnerReferences) != 1 || made.OwnerReferences[0].UID != b.deployment.UID || made.Spec.Consumer.Name != "web" {
		t.Errorf("it is %+v", made)
	}
	b.answer("default@dfw-1", metav1.ConditionFalse)
	b.bind(false, "NetworkContextNotReady: a moment")
	b.answer("default@dfw-1", metav1.ConditionTrue)
	b.bind(true, "")
	if requests := b.bind(true, ""); requests != 0 {
		t.Errorf("a binding that is Ready takes %d requests", requests)
	}

	*b.places = append(*b.places, cities.Location{Name: "dfw-2", City: "dfw", Available: true})
	b.bind(false, "location dfw-2")
	for i := range *b.places {
		(*b.places)[i].Available = false
	}
	b.answer("default@dfw-2", metav1.ConditionTrue)
	b.bind(true, "")
	*b.places = places{}
	b.bind(false, "no location in city DFW")
	*b.places = nil
	b.bind(false, "Milo does not serve LocationBindings")

	b.Project.Before(func(planes.Call) error { return context.DeadlineExceeded })
	*b.places = places{{Name: "dfw-3", City: "DFW", Available: true}}
	if got, err := b.binder.Bind(t.Context(), b.project(), b.deployment); err == nil {
		t.Errorf("without an answer it is %+v", got)
	}
}

// TestTrim: the network of an earlier template is released when no Instance of it runs, and all networks when the
// deployment is deleted.
func TestTrim(t *testing.T) {
	b := newBinding(t)
	b.serve()
	b.bind(false, "default")
	b.deployment.Spec.Template.Spec.NetworkInterfaces[0].Network.Name = "second"
	b.bind(false, "second")
	if stored := b.stored(); len(stored) != 2 {
		t.Errorf("during the rollout there are %v", stored)
	}
	other := b.Deployment("other", "DFW")
	other.UID = types.UID("other")
	kept := bindingOf(other, networking.NetworkReference{Name: "default"}, "dfw-1")
	planes.Create(t, b.Planes, kept)
	for range 2 {
		b.Project.Calls()
		if err := b.binder.Trim(t.Context(), b.project(), b.deployment); err != nil {
			t.Fatal(err)
		}
	}
	if requests := len(b.Project.Calls()); requests != 0 {
		t.Errorf("what is trimmed takes %d requests", requests)
	}
	if stored := b.stored(); len(stored) != 2 || stored["second@dfw-1"] == nil {
		t.Errorf("after it there are %v", stored)
	}
	if err := b.binder.Release(t.Context(), b.project(), b.deployment); err != nil {
		t.Fatal(err)
	}
	if stored := b.stored(); len(stored) != 1 || stored["default@dfw-1"].UID != kept.UID {
		t.Errorf("in the end there are %v", stored)
	}
}

// withStatus are the subresources of a kind with a status.
var withStatus = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}

// TestLocationsAreNotServed verifies that no network is released while Milo does not report its locations.
func TestLocationsAreNotServed(t *testing.T) {
	b := newBinding(t)
	b.serve()
	b.bind(false, "default")
	*b.places = nil
	if err := b.binder.Trim(t.Context(), b.project(), b.deployment); err != nil {
		t.Fatal(err)
	}
	if stored := b.stored(); len(stored) != 1 {
		t.Errorf("there are %v", stored)
	}
}

// TestReleaseOfALaterBinding: a NetworkBinding that was created again just before its deletion stays.
func TestReleaseOfALaterBinding(t *testing.T) {
	b := newBinding(t)
	b.serve()
	b.bind(false, "default")
	later := bindingOf(b.deployment, networking.NetworkReference{Name: "default"}, "dfw-1")
	b.Project.Once("delete", networking.KindNetworkBinding, func() error {
		planes.Delete(t, b.Planes, b.stored()["default@dfw-1"])
		planes.Create(t, b.Planes, later)
		return nil
	})
	if err := b.binder.Release(t.Context(), b.project(), b.deployment); !apierrors.IsConflict(err) {
		t.Errorf("the release is %v", err)
	}
	if stored := b.stored(); len(stored) != 1 || stored["default@dfw-1"].UID != later.UID {
		t.Errorf("in the end there are %v", stored)
	}
}
