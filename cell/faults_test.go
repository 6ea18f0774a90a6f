// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/collector"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/cell/sessions"
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

// TestInventoryWithAFault: the inventory of a cell follows its deployments, whichever write fails.
func TestInventoryWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		hub := types.UID(f.namespace)
		cell := f.cell(hub)
		r := collector.New(faults.Client(f.cached), f.direct, f.clock)
		wants := func(total int32) {
			t.Helper()
			for range 3 {
				faults.Reconcile(t, func() error {
					f.sync()
					f.syncCell(cell.Name)
					_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(cell)})
					return err
				})
				f.clock.SetTime(f.clock.Now().Add(time.Minute))
			}
			if f.getCell(cell, cell.Name); cell.Status.Total != total {
				t.Errorf("the inventory is %+v, want %d deployments", cell.Status, total)
			}
		}
		f.deployment(1, ofHub(hub, "a", "uid-a"))
		wants(1)
		f.remove(f.deployment(1, ofHub(hub, "b", "uid-b")))
		f.deployment(1, ofHub(hub, "c", "uid-c"))
		wants(2)
	})
}

// TestStraysWithAFault: a Pod whose Instance is gone is deleted, and an Instance of an earlier deployment of the
// Workload is adopted, whichever write fails.
func TestStraysWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		earlier := f.deployment(1)
		running, ended := f.instance(earlier, 0), f.instance(earlier, 1)
		f.pod(ended)
		f.remove(ended)
		f.remove(earlier)
		present := f.deployment(1)
		clock := clocktesting.NewFakeClock(now)
		keeper := collector.NewKeeper(collector.KeeperOptions{
			Client: faults.Client(f.direct), APIReader: f.direct, Recorder: f.recorder, Registerer: prometheus.NewRegistry(),
		})
		auditor := collector.NewAuditor(collector.AuditorOptions{
			Client: client.NewNamespacedClient(f.cached, f.namespace), APIReader: client.NewNamespacedClient(f.direct, f.namespace),
			Strays: keeper, Interval: 3 * time.Minute, Confirm: confirm, Clock: clock, Registerer: prometheus.NewRegistry(),
		})
		for range 4 {
			faults.Reconcile(t, func() error {
				f.sync()
				_, err := auditor.Pass(t.Context())
				return err
			})
			clock.Step(confirm)
		}
		if pod := f.storedPod("web-1"); pod != nil && pod.DeletionTimestamp.IsZero() {
			t.Error("the Pod without an Instance stays")
		}
		if stored := f.storedInstance("web-0"); stored.UID != running.UID || len(stored.OwnerReferences) != 1 ||
			stored.OwnerReferences[0].UID != present.UID {
			t.Errorf("the Instance has UID %s and owners %+v", stored.UID, stored.OwnerReferences)
		}
	})
}

// TestStreamRightsWithAFault: the credential of sessions is bound, and an edit is reverted, whichever write fails.
func TestStreamRightsWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		f := newFixture(t)
		f.deployment(1)
		r := &sessions.Reconciler{Client: faults.Client(f.direct), Users: []string{"streams"}}
		stored := &rbacv1.RoleBinding{}
		bound := func() {
			t.Helper()
			faults.Reconcile(t, func() error {
				_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.namespace, Name: "web"}})
				return err
			})
			err := f.direct.Get(t.Context(), client.ObjectKey{Namespace: f.namespace, Name: sessions.Name}, stored)
			if err != nil || len(stored.Subjects) != 1 || stored.Subjects[0].Name != "streams" {
				t.Fatalf("bound is %+v, %v", stored, err)
			}
		}
		bound()
		stored.Subjects[0].Name = "thief"
		f.update(stored)
		bound()
	})
}
