// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"math/rand/v2"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// backup returns the project's objects as a program such as Velero restores them: without UIDs, owners and status, and
// with finalizers, labels and annotations. The project then lacks them.
func (f *fixture) backup(t *testing.T) []client.Object {
	t.Helper()
	var workloads v1alpha.WorkloadList
	var deployments v1alpha.WorkloadDeploymentList
	var revisions v1alpha.WorkloadRevisionList
	var objects []client.Object
	for _, list := range []client.ObjectList{&workloads, &deployments, &revisions} {
		if err := f.Client.List(t.Context(), list, client.InNamespace(f.Namespace.Name)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range workloads.Items {
		workloads.Items[i].Status = v1alpha.WorkloadStatus{}
		objects = append(objects, &workloads.Items[i])
	}
	for i := range deployments.Items {
		deployments.Items[i].Status = v1alpha.WorkloadDeploymentStatus{}
		objects = append(objects, &deployments.Items[i])
	}
	for i := range revisions.Items {
		objects = append(objects, &revisions.Items[i])
	}
	for _, object := range objects {
		ended := object.DeepCopyObject().(client.Object)
		ended.SetFinalizers(nil)
		if err := f.Client.Update(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		planes.Delete(t, f.Planes, ended)
		planes.BackUp(object)
	}
	return objects
}

// TestRestoredInAnyOrder: a restore of all objects of a project, in any order and with any reconciles in between, ends
// with one Workload, its own deployments and its own history.
func TestRestoredInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		f := newFixture(t, "DFW ORD")
		c := f.cell()
		f.workload(t, "main DFW ORD")
		c.settle(t)
		f.image(t, "registry.example/app:2")
		c.settle(t)
		objects := f.backup(t)
		if len(objects) != 5 {
			t.Fatalf("the backup has %d objects", len(objects))
		}

		random.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		for _, object := range objects {
			// A restore leaves alone what exists.
			if err := f.Client.Create(t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
			for random.IntN(2) == 0 {
				f.mustReconcile(t)
				f.withdraw(t)
			}
		}
		f.settleRestored(t, c)
		f.wantOwn(t, seed, "web-main-dfw web-main-ord", 1)
		// The next template is the first occasion at which the history is read.
		f.image(t, "registry.example/app:3")
		f.settleRestored(t, c)
		f.wantOwn(t, seed, "web-main-dfw web-main-ord", 2)
	}
}

// settleRestored reconciles while propagation ends the deployments that are deleted.
func (f *fixture) settleRestored(t *testing.T, c *cell) {
	t.Helper()
	for range 3 {
		f.mustReconcile(t)
		f.withdraw(t)
	}
	c.settle(t)
}

// wantOwn wants deployments and revisions that belong to the present Workload, and no others.
func (f *fixture) wantOwn(t *testing.T, seed uint64, names string, revisions int) {
	t.Helper()
	workload := f.readWorkload(t)
	if f.names(t) != names || !slices.Contains(workload.Finalizers, v1alpha.FinalizerWorkload) {
		t.Errorf("seed %d: deployments are %s, and finalizers %v", seed, f.names(t), workload.Finalizers)
	}
	var history v1alpha.WorkloadRevisionList
	if err := f.Client.List(t.Context(), &history, client.InNamespace(f.Namespace.Name)); err != nil {
		t.Fatal(err)
	}
	var strange []string
	for i := range history.Items {
		if !metav1.IsControlledBy(&history.Items[i], workload) {
			strange = append(strange, history.Items[i].Name)
		}
	}
	if own := len(history.Items) - len(strange); own != revisions || revisions > 1 && len(strange) > 0 {
		t.Errorf("seed %d: %d revisions, want %d, beside %v", seed, own, revisions, strange)
	}
}
