// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func suspended(d *v1alpha.WorkloadDeployment) { d.Spec.Suspended = true }

// TestSuspension: the Pods are deleted and the Instances stay, no Pod is created, and all start again when the project
// is resumed.
func TestSuspension(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2, parallel)
	f.reconcile(f.deployments(), "web")
	f.reconcile(f.runtime(), "web-0")
	held := f.storedPod("web-0")
	held.Finalizers = []string{"example.com/held"}
	f.update(held)
	deployment.Spec.Suspended = true
	deployment.Spec.ScaleSettings.MinReplicas = 3
	f.update(deployment)

	for range 2 {
		f.reconcile(f.deployments(), "web")
		f.reconcile(f.runtime(), "web-0")
		f.reconcile(f.runtime(), "web-1")
	}
	if pod := f.storedPod("web-0"); pod == nil || pod.DeletionTimestamp.IsZero() {
		t.Fatal("the Pod is not being deleted")
	}
	if f.storedPod("web-1") != nil {
		t.Error("a Pod was made although the project is suspended")
	}
	f.wantInstances([]string{"web-0", "web-1"}, nil)
	f.wantReady("web-0", "-"+v1alpha.ReasonProjectSuspended)
	f.wantReady("web-1", "-"+v1alpha.ReasonProjectSuspended)
	f.wantSuspended("False", v1alpha.ReasonSuspending)

	pod := f.storedPod("web-0")
	pod.Finalizers = nil
	f.update(pod)
	f.eventually("the Pod is gone", func(context.Context) bool { return f.storedPod("web-0") == nil })
	f.reconcile(f.runtime(), "web-0")
	f.wantSuspended("True", v1alpha.ReasonProjectSuspended)
	if got := reasons(f.storedInstance("web-0").Status.Conditions); got[v1alpha.ConditionAvailable] != "-ProjectSuspended" ||
		got[v1alpha.ConditionProgrammed] != "-ProjectSuspended" {
		t.Errorf("the reasons are %v", got)
	}

	before := f.storedInstance("web-0").UID
	resumed := f.storedDeployment()
	resumed.Spec.Suspended = false
	f.update(resumed)
	f.reconcile(f.deployments(), "web")
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		f.reconcile(f.runtime(), name)
		if f.storedPod(name) == nil {
			t.Errorf("%s does not start again", name)
		}
	}
	if f.storedInstance("web-0").UID != before {
		t.Error("the Instance is another one")
	}
	f.rollUp()
	if meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionSuspended) != nil {
		t.Error("the deployment still says that the project is suspended")
	}
}

// TestNothingStartsUnknown: an Instance without its WorkloadDeployment, whose project may be suspended, does not start,
// and keeps running if it runs.
func TestNothingStartsUnknown(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2, suspended)
	f.instance(deployment, 0)
	f.setPod(f.pod(f.instance(deployment, 1), func(p *corev1.Pod) { p.Labels = naming.InstanceLabels(deployment, 1) }), readyPod("10.0.0.1"))
	f.remove(deployment)
	f.reconcile(f.runtime(), "web-0")
	f.reconcile(f.runtime(), "web-1")
	if f.storedPod("web-0") != nil {
		t.Error("it starts")
	}
	f.wantReady("web-0", "-"+v1alpha.ReasonProvisioning)
	f.wantReady("web-1", v1alpha.ReasonAvailable)
}

// wantSuspended reconciles the report of the deployment, and checks its condition Suspended.
func (f *fixture) wantSuspended(status, reason string) {
	f.t.Helper()
	f.clock.SetTime(f.clock.Now().Add(patience))
	f.rollUp()
	condition := meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionSuspended)
	if condition == nil || string(condition.Status) != status || condition.Reason != reason {
		f.t.Errorf("Suspended is %+v, want %s %s", condition, status, reason)
	}
}

// TestSuspendedDuringARollout: the rollout pauses, and continues when the project is resumed.
func TestSuspendedDuringARollout(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2, parallel)
	f.reconcile(f.deployments(), "web")
	before := f.storedInstance("web-0").UID
	for _, index := range []string{"web-0", "web-1"} {
		f.setReady(f.storedInstance(index), "True")
	}
	deployment.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "example.com/new"
	deployment.Spec.Suspended = true
	f.update(deployment)
	for range 2 {
		f.reconcile(f.deployments(), "web")
	}
	f.wantInstances([]string{"web-0", "web-1"}, nil)

	resumed := f.storedDeployment()
	resumed.Spec.Suspended = false
	f.update(resumed)
	replaced := ""
	for range 4 {
		f.reconcile(f.deployments(), "web")
		if _, leaving := f.instances(); len(leaving) > 0 {
			replaced = leaving[0]
			f.collect(replaced)
			break
		}
	}
	if replaced == "" {
		t.Fatal("the rollout does not go on")
	}
	f.reconcile(f.deployments(), "web")
	stored := f.storedInstance(replaced)
	if stored.UID == before || stored.Spec.Runtime.Sandbox.Containers[0].Image != "example.com/new" {
		t.Errorf("%s is not of the new template", replaced)
	}
}

// TestResumedDuringADeletion: an Instance that is being deleted does not start again.
func TestResumedDuringADeletion(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, suspended)
	instance := f.instance(deployment, 0, func(i *v1alpha.Instance) { i.Finalizers = []string{"example.com/held"} })
	f.reconcile(f.runtime(), "web-0")
	f.beginDeletion(instance)
	resumed := f.storedDeployment()
	resumed.Spec.Suspended = false
	f.update(resumed)
	f.reconcile(f.runtime(), "web-0")
	if f.storedPod("web-0") != nil {
		t.Error("it starts although it is being deleted")
	}
	f.wantReady("web-0", "-"+v1alpha.ReasonProvisioning)
}
