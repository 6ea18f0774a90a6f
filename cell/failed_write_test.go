// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"errors"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// fails wants the reconcile of an object to fail with the error of a broken client.
func (f *fixture) fails(r reconcile.Reconciler, name string) {
	f.t.Helper()
	f.sync()
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: f.namespace, Name: name}}
	if _, err := r.Reconcile(f.t.Context(), request); !errors.Is(err, errBroken) {
		f.t.Fatalf("reconcile %s: %v, want %v", name, err, errBroken)
	}
}

// TestStopAfterAFailedDeletion: the Pod of an earlier template whose deletion fails is deleted by the next reconcile.
func TestStopAfterAFailedDeletion(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, parallel)
	f.running(deployment, 0)
	f.onNode("node", "web-0")
	f.changeDeployment(newImage)
	r := f.deployments()
	r.Client = f.broken("delete")
	f.fails(r, "web")
	if before := f.storedPod("web-0"); !before.DeletionTimestamp.IsZero() {
		t.Fatal("the deletion did not fail")
	}
	f.reconcile(r, "web")
	if pod := f.storedPod("web-0"); pod.DeletionTimestamp.IsZero() {
		t.Errorf("the Pod of the earlier template runs, with template %s", pod.Labels[v1alpha.LabelTemplateHash])
	}
}

// TestReportAfterFailedWrites: reports that were not written use nothing of the pace, and the next one does not wait.
func TestReportAfterFailedWrites(t *testing.T) {
	f := newFixture(t)
	f.running(f.deployment(1), 0)
	var restored atomic.Bool
	r := rollup.New(f.beforeWrites(func(string) error {
		if restored.Load() {
			return nil
		}
		return errBroken
	}), f.clock)
	for range 20 {
		f.fails(r, "web")
	}
	restored.Store(true)
	result := f.reconcile(r, "web")
	if status := f.storedDeployment().Status; status.ReadyReplicas != 1 {
		t.Errorf("after the failures the report waits %s; reported are %+v", result.RequeueAfter, status.ReplicaCounts)
	}
}

// TestStatusAfterAFailedWrite: a state that has waited for its write is written by the next reconcile, and no Event
// reports one that was not written.
func TestStatusAfterAFailedWrite(t *testing.T) {
	f := newFixture(t)
	instance := f.instance(f.deployment(1), 0)
	f.setPod(f.pod(instance), corev1.PodStatus{Phase: corev1.PodPending})
	r := f.runtime()
	r.Client, r.Passing = f.broken("status"), pace.NewWrites[types.NamespacedName](f.clock)
	wait := f.reconcile(r, instance.Name).RequeueAfter
	if wait <= 0 {
		t.Fatal("the state of a starting Instance does not wait")
	}
	f.clock.SetTime(f.clock.Now().Add(wait))
	f.fails(r, instance.Name)
	f.reconcile(r, instance.Name)
	if ready := meta.FindStatusCondition(f.storedInstance(instance.Name).Status.Conditions, v1alpha.ConditionReady); ready == nil {
		t.Error("the state waits again after its write has failed")
	}

	f.setPod(f.storedPod(instance.Name), corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "the node was low on memory"})
	r.Client = f.broken("status")
	f.fails(r, instance.Name)
	if events := len(f.recorder.Events); events > 0 {
		t.Errorf("%d Events about a state that was not written", events)
	}
}
