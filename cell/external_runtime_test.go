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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// class of the Instances that the provider runs.
const class = "virtual-machine"

func ofClass(d *v1alpha.WorkloadDeployment) { d.Spec.Template.Spec.Runtime.Class = class }

// provider is an external runtime that follows only docs/how-to/external-runtime.md. Its machines are ConfigMaps.
type provider struct {
	client client.Client
}

const (
	providerName      = "example-provider"
	providerFinalizer = "example.com/machine"
)

// Reconcile runs one Instance.
func (p *provider) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	instance := &v1alpha.Instance{}
	if err := p.client.Get(ctx, request.NamespacedName, instance); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if instance.Spec.Runtime.Class != class {
		return reconcile.Result{}, nil
	}
	machine := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: instance.Namespace, Name: "machine-" + instance.Name}}
	if !instance.DeletionTimestamp.IsZero() {
		if err := p.client.Delete(ctx, machine); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
		if controllerutil.RemoveFinalizer(instance, providerFinalizer) {
			return reconcile.Result{}, p.client.Update(ctx, instance)
		}
		return reconcile.Result{}, nil
	}
	deployment := &v1alpha.WorkloadDeployment{}
	key := client.ObjectKey{Namespace: instance.Namespace, Name: metav1.GetControllerOf(instance).Name}
	if err := p.client.Get(ctx, key, deployment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	switch {
	case deployment.Spec.Suspended:
		if err := p.client.Delete(ctx, machine); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, p.report(ctx, instance, v1alpha.ReasonProjectSuspended)
	case len(instance.SchedulingGates()) > 0:
		return reconcile.Result{}, p.report(ctx, instance, v1alpha.ReasonSchedulingGatesPresent)
	}
	if controllerutil.AddFinalizer(instance, providerFinalizer) {
		if err := p.client.Update(ctx, instance); err != nil {
			return reconcile.Result{}, err
		}
	}
	if err := p.client.Create(ctx, machine); err != nil && !apierrors.IsAlreadyExists(err) {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, p.report(ctx, instance, v1alpha.ReasonAvailable)
}

// report writes the conditions that the contract asks for, and the address of a machine that runs.
func (p *provider) report(ctx context.Context, instance *v1alpha.Instance, reason string) error {
	status := metav1.ConditionFalse
	if reason == v1alpha.ReasonAvailable {
		status = metav1.ConditionTrue
	}
	var wanted []metav1.Condition
	for _, kind := range []string{v1alpha.ConditionReady, v1alpha.ConditionAvailable, v1alpha.ConditionProgrammed} {
		wanted = append(wanted, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "by " + providerName})
	}
	report := v1alpha.InstanceStatus{
		Conditions: apply.StampedConditions(instance.Status.Conditions, apply.Stamp{Generation: instance.Generation, Now: now}, wanted...),
	}
	if status == metav1.ConditionTrue {
		report.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: instance.TemplateHash()}
		report.NetworkInterfaces = []v1alpha.InstanceNetworkInterfaceStatus{{}}
		report.NetworkInterfaces[0].Assignments.NetworkIP = new("10.9.0.1")
	}
	return apply.Status(ctx, p.client, providerName, &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: instance.Namespace, Name: instance.Name}, Status: report,
	})
}

// external is the agent's runtime in a cell where another runtime has the class.
func (f *fixture) external() *runtime.Reconciler {
	r := f.runtime()
	r.Settings.ExternalClasses = []string{class}
	return r
}

// all has the agent and the provider reconcile everything once.
func (f *fixture) all(p *provider, instances ...string) {
	f.t.Helper()
	f.reconcile(f.deployments(), "web")
	settled := f.external()
	settled.Client = f.readOnly()
	for _, name := range instances {
		// The agent lifts gates and reports the open ones, and writes nothing else.
		f.reconcile(f.external(), name)
		f.reconcile(settled, name)
		f.reconcile(p, name)
	}
	f.clock.SetTime(f.clock.Now().Add(patience))
	f.rollUp()
}

// collect ends a deletion with foreground propagation, as the garbage collector does when no dependent is left.
func (f *fixture) collect(name string) {
	f.t.Helper()
	instance := f.storedInstance(name)
	if !slices.Equal(instance.Finalizers, []string{metav1.FinalizerDeleteDependents}) {
		f.t.Fatalf("%s is held by %v", name, instance.Finalizers)
	}
	instance.Finalizers = nil
	f.update(instance)
}

// machine reports whether the machine of an Instance runs.
func (f *fixture) machine(name string) bool {
	f.t.Helper()
	err := f.direct.Get(f.t.Context(), client.ObjectKey{Namespace: f.namespace, Name: "machine-" + name}, &corev1.ConfigMap{})
	if client.IgnoreNotFound(err) != nil {
		f.t.Fatal(err)
	}
	return err == nil
}

// TestExternalRuntime: a provider that knows the contract alone runs Instances, while the agent starts, rolls, suspends
// and counts them.
func TestExternalRuntime(t *testing.T) {
	f := newFixture(t)
	p := &provider{client: f.direct}
	f.deployment(1, ofClass, granted())

	f.all(p, "web-0")
	if f.machine("web-0") {
		t.Error("it runs although its quota is not granted")
	}
	f.wantReady("web-0", "-"+v1alpha.ReasonSchedulingGatesPresent)

	f.changeDeployment(granted(0))
	f.all(p, "web-0")
	if !f.machine("web-0") || f.storedPod("web-0") != nil {
		t.Errorf("it does not run, or the agent has made a Pod: %v", f.storedPod("web-0"))
	}
	f.wantReady("web-0", v1alpha.ReasonAvailable)
	if status := f.storedDeployment().Status; status.ReadyReplicas != 1 || len(status.Reports[0].Instances) != 1 {
		t.Errorf("the agent reports %+v", status)
	}

	before := f.storedInstance("web-0").UID
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "example.com/new"
	})
	f.reconcile(f.deployments(), "web")
	f.reconcile(f.deployments(), "web")
	f.wantInstances(nil, []string{"web-0"})
	f.reconcile(p, "web-0")
	if f.machine("web-0") {
		t.Error("the machine of an Instance that is being deleted runs on")
	}
	f.collect("web-0")
	f.all(p, "web-0")
	f.all(p, "web-0")
	if f.storedInstance("web-0").UID == before || !f.machine("web-0") {
		t.Error("it was not replaced")
	}
	f.wantReady("web-0", v1alpha.ReasonAvailable)

	f.changeDeployment(suspended)
	f.all(p, "web-0")
	if f.machine("web-0") {
		t.Error("it runs although the project is suspended")
	}
	f.wantSuspended("True", v1alpha.ReasonProjectSuspended)
}

// TestPodOfAnExternalClass: a Pod that the agent started before the class was assigned to another runtime keeps
// running.
func TestPodOfAnExternalClass(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, ofClass)
	f.setPod(f.pod(f.instance(deployment, 0)), readyPod("10.0.0.1"))
	f.reconcile(f.external(), "web-0")
	f.wantReady("web-0", v1alpha.ReasonAvailable)
}

// TestClassesThatAreServed: an Instance of a class that neither the agent nor another runtime runs lists the served
// classes.
func TestClassesThatAreServed(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, func(d *v1alpha.WorkloadDeployment) { d.Spec.Template.Spec.Runtime.Class = "other" })
	f.instance(deployment, 0)
	f.reconcile(f.external(), "web-0")
	ready := meta.FindStatusCondition(f.storedInstance("web-0").Status.Conditions, v1alpha.ConditionReady)
	if ready == nil || ready.Reason != v1alpha.ReasonRuntimeClassNotServed ||
		ready.Message != `this cell does not serve spec.runtime.class "other"; it serves virtual-machine` {
		t.Errorf("it says %+v", ready)
	}
}
