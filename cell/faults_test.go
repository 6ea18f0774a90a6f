// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// life is the agent of a cell with a deployment of one Instance. One of its writes fails, and its reconcilers stay the
// same.
type life struct {
	*fixture
	faults      *testenv.Faults
	deployments reconcile.Reconciler
	instances   reconcile.Reconciler
	reports     reconcile.Reconciler
}

func newLife(t *testing.T, faults *testenv.Faults) *life {
	t.Helper()
	f := newFixture(t)
	c := faults.Client(f.cached)
	deployments, instances := f.deployments(), f.runtime()
	deployments.Client, instances.Client = c, c
	instances.Passing = pace.NewWrites[types.NamespacedName](f.clock)
	return &life{fixture: f, faults: faults, deployments: deployments, instances: instances, reports: rollup.New(c, f.clock)}
}

// settle lets the agent and the node of the cell act until some time has passed.
func (l *life) settle() {
	l.t.Helper()
	l.each(l.deployments, "web")
	l.each(l.instances, "web-0")
	if pod := l.storedPod("web-0"); pod == nil {
		// The Pod of the earlier template has ended.
		l.each(l.instances, "web-0")
	}
	l.setPod(l.storedPod("web-0"), readyAt(now.Add(-time.Minute)))
	l.clock.SetTime(l.clock.Now().Add(time.Minute))
	for range 2 {
		l.each(l.instances, "web-0")
		l.each(l.reports, "web")
		l.clock.SetTime(l.clock.Now().Add(time.Minute))
	}
}

func (l *life) each(r reconcile.Reconciler, name string) {
	l.t.Helper()
	l.faults.Reconcile(l.t, func() error {
		l.sync()
		_, err := r.Reconcile(l.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: l.namespace, Name: name}})
		return err
	})
}

// wantRunning wants one Instance that is Ready with the template of its deployment, and is reported.
func (l *life) wantRunning() {
	l.t.Helper()
	l.wantInstances([]string{"web-0"}, nil)
	deployment, instance, pod := l.storedDeployment(), l.storedInstance("web-0"), l.storedPod("web-0")
	hash, err := templates.Hash(&deployment.Spec.Template)
	if err != nil {
		l.t.Fatal(err)
	}
	image := deployment.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image
	if pod == nil || instance.TemplateHash() != hash || pod.Spec.Containers[0].Image != image {
		l.t.Fatalf("the Instance has template %s, want %s; its Pod is %+v", instance.TemplateHash(), hash, pod)
	}
	if !meta.IsStatusConditionTrue(instance.Status.Conditions, v1alpha.ConditionReady) ||
		instance.Status.Controller.ObservedTemplateHash != hash {
		l.t.Errorf("the Instance has status %+v", instance.Status)
	}
	status := deployment.Status
	if status.ObservedGeneration != deployment.Generation || status.ReadyReplicas != 1 || status.CurrentReplicas != 1 {
		l.t.Errorf("reported is %+v of generation %d, want %d", status.ReplicaCounts, status.ObservedGeneration, deployment.Generation)
	}
}

// TestLifeWithAFault: an Instance is created, replaced in place and deleted, whichever write of the agent fails.
func TestLifeWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		l := newLife(t, faults)
		l.deployment(1)
		l.settle()
		l.wantRunning()
		l.changeDeployment(newImage)
		l.settle()
		l.wantRunning()
		l.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 2 })
		l.each(l.deployments, "web")
		l.wantInstances([]string{"web-0", "web-1"}, nil)
		l.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.MinReplicas = 1 })
		l.each(l.deployments, "web")
		if present, _ := l.fixture.instances(); len(present) != 1 {
			t.Errorf("after the scale-down there are %v", present)
		}
	})
}
