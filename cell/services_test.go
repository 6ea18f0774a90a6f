// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/services"
	"github.com/karmada-compute/karmada-compute/testenv"
)

func (f *fixture) services(c ...client.Client) *services.Reconciler {
	reconciler := &services.Reconciler{Client: f.cached, APIReader: f.direct, Clock: f.clock}
	if len(c) > 0 {
		reconciler.Client = c[0]
	}
	return reconciler
}

// serving gives a deployment a service with one port, as of a generation of its Workload.
func serving(generation int64, port int32) change {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Service = &v1alpha.WorkloadService{Ports: []v1alpha.ServicePort{{Port: port, TargetPort: new(intstr.FromInt32(8080))}}}
		d.Spec.ServiceGeneration = generation
	}
}

func called(name string) change { return func(d *v1alpha.WorkloadDeployment) { d.Name = name } }

func headless(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Headless = true }

// service is the Service web; nil: it does not exist.
func (f *fixture) service() *corev1.Service {
	f.t.Helper()
	service := &corev1.Service{}
	err := f.direct.Get(f.t.Context(), client.ObjectKey{Namespace: f.namespace, Name: "web"}, service)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return service
}

// wantProgrammed checks condition ServiceProgrammed of a deployment; "": it is absent.
func (f *fixture) wantProgrammed(deployment, reason string) {
	f.t.Helper()
	stored := &v1alpha.WorkloadDeployment{}
	f.get(stored, deployment)
	found, got := meta.FindStatusCondition(stored.Status.Conditions, v1alpha.ConditionServiceProgrammed), ""
	if found != nil {
		got = found.Reason
	}
	if got != reason {
		f.t.Errorf("ServiceProgrammed of %s is %+v, want %q", deployment, found, reason)
	}
}

// TestService: a Workload has one Service for all its deployments in the cell, with the fields and the defaults of a
// Service of Kubernetes.
func TestService(t *testing.T) {
	f := newFixture(t)
	first := f.deployment(1, serving(1, 80))
	second := f.deployment(1, called("web-other"), serving(1, 80), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Service.PublishNotReadyAddresses = true
		d.Spec.Service.Ports[0] = v1alpha.ServicePort{Port: 53, Protocol: new(corev1.ProtocolUDP), AppProtocol: new("dns")}
	})
	f.reconcile(f.services(), "web")

	got := f.service()
	if got == nil {
		t.Fatal("there is no Service")
	}
	if got.Spec.Type != corev1.ServiceTypeClusterIP || got.Spec.ClusterIP == "" || got.Spec.ClusterIP == corev1.ClusterIPNone ||
		got.Spec.PublishNotReadyAddresses {
		t.Errorf("spec %+v", got.Spec)
	}
	if want := (corev1.ServicePort{Port: 80, TargetPort: intstr.FromInt32(8080), Protocol: corev1.ProtocolTCP}); len(got.Spec.Ports) != 1 ||
		got.Spec.Ports[0] != want {
		t.Errorf("ports %+v", got.Spec.Ports)
	}
	var owners []types.UID
	for _, owner := range got.OwnerReferences {
		owners = append(owners, owner.UID)
	}
	if !slices.Equal(owners, []types.UID{first.UID, second.UID}) || metav1.GetControllerOf(got) != nil {
		t.Errorf("owners %+v", got.OwnerReferences)
	}
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	f.wantProgrammed("web-other", v1alpha.ReasonServiceProgrammed)
}

// TestServiceIsRestored: a Service that is as it should be costs no write, and an edit by hand is reverted without a new
// address.
func TestServiceIsRestored(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(1, 80))
	f.reconcile(f.services(), "web")
	f.reconcile(f.services(f.readOnly()), "web")
	got := f.service()
	edited := got.DeepCopy()
	edited.Spec.Selector["app"] = "other"
	edited.Spec.PublishNotReadyAddresses = true
	f.update(edited)
	f.reconcile(f.services(), "web")
	if again := f.service(); again.Spec.PublishNotReadyAddresses || len(again.Spec.Selector) != 1 ||
		again.Spec.ClusterIP != got.Spec.ClusterIP || again.UID != got.UID {
		t.Errorf("after the edit %+v", again.Spec)
	}
}

// TestServiceOfSeveralDeployments: deployments that disagree during a change have the newest service, in any order.
func TestServiceOfSeveralDeployments(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(7, 80))
	f.deployment(1, called("web-a"), serving(9, 90))
	last := f.deployment(1, called("web-b"), serving(8, 85))
	f.reconcile(f.services(), "web")
	before := f.service()
	if before == nil || before.Spec.Ports[0].Port != 90 {
		t.Fatalf("Service %+v", before)
	}
	// A second port appears, and the first one changes its number: neither the address nor the Service changes.
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
		serving(12, 91)(d)
		d.Spec.Service.Ports[0].Name = "http"
		d.Spec.Service.Ports = append(d.Spec.Service.Ports, v1alpha.ServicePort{Name: "metrics", Port: 9000})
	})
	f.reconcile(f.services(), "web")
	got := f.service()
	if len(got.Spec.Ports) != 2 || got.Spec.Ports[0].Port != 91 || got.Spec.Ports[1].TargetPort != intstr.FromInt32(9000) ||
		got.UID != before.UID || got.Spec.ClusterIP != before.Spec.ClusterIP {
		t.Errorf("Service %+v", got.Spec)
	}

	// The Service goes with the last deployment that has it.
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service = nil })
	f.remove(&v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "web-a"}})
	f.reconcile(f.services(), "web")
	if got = f.service(); got == nil || got.Spec.Ports[0].Port != 85 || len(got.OwnerReferences) != 1 ||
		got.OwnerReferences[0].UID != last.UID {
		t.Fatalf("Service %+v", got)
	}
	f.wantProgrammed("web", "")
	f.remove(last)
	f.reconcile(f.services(), "web")
	if f.service() != nil {
		t.Error("the Service stays without deployments")
	}
}

// TestServiceOfALeavingDeployment: the Service of a deployment that is being deleted stays as it is, and is not created
// again while the garbage collector deletes it in foreground.
func TestServiceOfALeavingDeployment(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, serving(1, 80), func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{"example.com/held"} })
	f.reconcile(f.services(), "web")
	f.beginDeletion(deployment)
	f.reconcile(f.services(f.readOnly()), "web")
	f.remove(f.service())
	f.reconcile(f.services(f.readOnly()), "web")

	// A later Workload of the name has a Service of its own, for its own Pods.
	f.deployment(1, called("web-new"), serving(1, 81), func(d *v1alpha.WorkloadDeployment) { d.Spec.WorkloadRef.UID = "later" })
	f.reconcile(f.services(), "web")
	if got := f.service(); got == nil || got.Spec.Selector[v1alpha.LabelWorkloadUID] != "later" || got.Spec.Ports[0].Port != 81 {
		t.Errorf("Service %+v", got)
	}
}

// TestHeadlessService: an address cannot be added to a Service or removed, so that it is created again.
func TestHeadlessService(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(1, 80))
	f.reconcile(f.services(), "web")
	before := f.service()
	f.changeDeployment(headless)
	f.reconcile(f.services(), "web")
	f.reconcile(f.services(), "web")
	got := f.service()
	if got == nil || got.UID == before.UID || got.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Fatalf("Service %+v", got)
	}
	f.reconcile(f.services(f.readOnly()), "web")
	f.changeDeployment(serving(2, 80))
	f.reconcile(f.services(), "web")
	f.reconcile(f.services(), "web")
	if got = f.service(); got == nil || got.Spec.ClusterIP == corev1.ClusterIPNone {
		t.Errorf("Service %+v", got)
	}
}

// TestServiceOfOthers: a Service that the agent did not create stays as it is, and its name is the reason.
func TestServiceOfOthers(t *testing.T) {
	f := newFixture(t)
	foreign := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "web"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}, Selector: map[string]string{"app": "foreign"}},
	}
	f.create(foreign)
	f.deployment(1, serving(1, 80))
	if result := f.reconcile(f.services(), "web"); result.RequeueAfter == 0 {
		t.Error("nothing finds out that the name is free")
	}
	f.wantProgrammed("web", v1alpha.ReasonServiceNameTaken)
	if got := f.service(); got.ResourceVersion != foreign.ResourceVersion {
		t.Errorf("the Service of others was written: %+v", got)
	}

	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service = nil })
	f.reconcile(f.services(), "web")
	f.wantProgrammed("web", "")
	if f.service() == nil {
		t.Fatal("the Service of others was deleted")
	}

	f.changeDeployment(serving(2, 80))
	f.remove(foreign)
	f.reconcile(f.services(), "web")
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
}

// TestServiceRefused: the answer of the cell's API server is the reason, and its Service comes when the cell takes it.
func TestServiceRefused(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(1, 80), func(d *v1alpha.WorkloadDeployment) { d.Spec.WorkloadRef.Name = "1web" })
	f.reconcile(f.services(), "1web")
	f.wantProgrammed("web", v1alpha.ReasonServiceRefused)

	forbidding := interceptor.NewClient(f.cached, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
			return apierrors.NewForbidden(corev1.Resource("services"), obj.GetName(), context.Canceled)
		},
	})
	f.deployment(1, called("web-2"), serving(1, 80))
	if result := f.reconcile(f.services(forbidding), "web"); result.RequeueAfter == 0 {
		t.Error("nothing finds out that the quota was raised")
	}
	f.wantProgrammed("web-2", v1alpha.ReasonServiceRefused)
	f.reconcile(f.services(), "web")
	f.wantProgrammed("web-2", v1alpha.ReasonServiceProgrammed)
}

// TestServiceSelectsInstances: the Service of a Workload selects the Pods of all its deployments, and no others.
func TestServiceSelectsInstances(t *testing.T) {
	f := newFixture(t)
	f.deployment(1, serving(1, 80))
	f.deployment(1, called("web-other"), serving(1, 80))
	f.deployment(1, called("db"), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.WorkloadRef = v1alpha.WorkloadReference{Name: "db", UID: "db-uid"}
	})
	f.reconcile(f.services(), "web")
	for _, name := range []string{"web", "web-other", "db"} {
		f.reconcile(f.deployments(), name)
		f.reconcile(f.runtime(), name+"-0")
	}
	selector := labels.SelectorFromSet(f.service().Spec.Selector)
	var pods corev1.PodList
	if err := f.direct.List(t.Context(), &pods, client.InNamespace(f.namespace)); err != nil {
		t.Fatal(err)
	}
	var selected []string
	for i := range pods.Items {
		if selector.Matches(labels.Set(pods.Items[i].Labels)) {
			selected = append(selected, pods.Items[i].Name)
		}
	}
	slices.Sort(selected)
	if len(pods.Items) != 3 || !slices.Equal(selected, []string{"web-0", "web-other-0"}) {
		t.Errorf("of %d Pods the Service selects %v", len(pods.Items), selected)
	}
	// A headless Service gives a Pod a name only by its hostname and its subdomain.
	if pod := f.storedPod("web-other-0"); pod.Spec.Hostname != "web-other-0" || pod.Spec.Subdomain != "web" {
		t.Errorf("hostname %q, subdomain %q", pod.Spec.Hostname, pod.Spec.Subdomain)
	}
}

// TestServiceReplacesNoInstance: nothing but the Service follows a change of spec.service.
func TestServiceReplacesNoInstance(t *testing.T) {
	f := newFixture(t)
	f.deployment(1)
	f.reconcile(f.deployments(), "web")
	f.reconcile(f.runtime(), "web-0")
	instance, pod := f.storedInstance("web-0"), f.storedPod("web-0")
	for _, change := range []change{
		serving(1, 80), serving(2, 90), headless,
		func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.PublishNotReadyAddresses = true },
		func(d *v1alpha.WorkloadDeployment) { d.Spec.Service = nil },
	} {
		f.changeDeployment(change)
		f.reconcile(f.services(), "web")
		f.reconcile(f.deployments(), "web")
		f.reconcile(f.runtime(), "web-0")
		if got := f.storedInstance("web-0"); got.UID != instance.UID || got.Generation != instance.Generation {
			t.Fatalf("the Instance was changed: %+v", got.Spec)
		}
		if got := f.storedPod("web-0"); got == nil || got.UID != pod.UID || got.Generation != pod.Generation {
			t.Fatalf("the Pod was changed: %+v", got)
		}
	}
}

// TestServiceWithAFault: the same reconciler ends with the Service, and without it, whichever write fails.
func TestServiceWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		f.deployment(1, serving(1, 80))
		r := f.services(faults.Client(f.cached))
		follow := func() {
			t.Helper()
			// The deletion of a Service is an event, and the next reconcile creates it again.
			for range 2 {
				faults.Reconcile(t, func() error {
					f.sync()
					_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.namespace, Name: "web"}})
					return err
				})
			}
		}
		follow()
		f.changeDeployment(serving(2, 90))
		follow()
		f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
		f.changeDeployment(headless)
		follow()
		if got := f.service(); got == nil || got.Spec.Ports[0].Port != 90 || got.Spec.ClusterIP != corev1.ClusterIPNone {
			t.Fatalf("Service %+v", got)
		}
		f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service = nil })
		follow()
		if f.service() != nil {
			t.Error("the Service is still there")
		}
		f.wantProgrammed("web", "")
	})
}

// TestServiceFollowsItsEvents: it passes only with each watch of the controller.
func TestServiceFollowsItsEvents(t *testing.T) {
	f := newFixture(t)
	f.start()
	f.deployment(1, serving(1, 80))
	f.eventually("there is a Service", func(context.Context) bool { return f.service() != nil })
	before := f.service()
	f.remove(before)
	f.eventually("the Service is there again", func(context.Context) bool {
		service := f.service()
		return service != nil && service.UID != before.UID
	})
	f.changeDeployment(headless)
	f.eventually("the Service has no address", func(context.Context) bool {
		service := f.service()
		return service != nil && service.Spec.ClusterIP == corev1.ClusterIPNone
	})
	f.remove(f.storedDeployment())
	f.eventually("the Service is gone", func(context.Context) bool { return f.service() == nil })
}
