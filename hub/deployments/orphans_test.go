// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	mchandler "sigs.k8s.io/multicluster-runtime/pkg/handler"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// deleteWith deletes an object as kubectl does with --cascade.
func (f *fixture) deleteWith(t *testing.T, obj client.Object, cascade metav1.DeletionPropagation) {
	t.Helper()
	if err := f.Client.Delete(t.Context(), obj, client.PropagationPolicy(cascade)); err != nil {
		t.Fatal(err)
	}
}

// orphan plays the garbage collector after the deletion of a Workload with --cascade=orphan.
func (f *fixture) orphan(t *testing.T, workload *v1alpha.Workload, names ...string) {
	t.Helper()
	for _, name := range names {
		planes.Change(t, f.Planes, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) { d.OwnerReferences = nil })
	}
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) {
		if !controllerutil.RemoveFinalizer(w, metav1.FinalizerOrphanDependents) {
			t.Errorf("the finalizers are %v", w.Finalizers)
		}
	})
}

// requests returns the Workloads that events requeue.
func (f *fixture) requests(t *testing.T, send func(mchandler.EventHandler, queue)) []string {
	t.Helper()
	project, err := f.Get(t.Context(), planes.ProjectName)
	if err != nil {
		t.Fatal(err)
	}
	queue := newQueue(t)
	send(ofDeployment(planes.ProjectName, project), queue)
	var names []string
	for queue.Len() > 0 {
		got, _ := queue.Get()
		if got.Namespace != f.Namespace.Name || got.ClusterName != planes.ProjectName {
			t.Errorf("it requeues %v", got)
		}
		names = append(names, got.Name)
	}
	slices.Sort(names)
	return names
}

// TestOrphanedDeployments: a Workload that is deleted with --cascade=orphan ends with its last deployment, whose owner
// reference the garbage collector has removed.
func TestOrphanedDeployments(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	f.deleteWith(t, f.readWorkload(t), metav1.DeletePropagationOrphan)
	owned := f.readDeployment(t, "web-main-dfw")
	f.orphan(t, workload, "web-main-dfw")
	f.mustReconcile(t)
	orphaned := f.readDeployment(t, "web-main-dfw")
	if orphaned.DeletionTimestamp.IsZero() || len(orphaned.OwnerReferences) > 0 {
		t.Fatalf("metadata is %+v", orphaned.ObjectMeta)
	}
	f.withdraw(t)

	for name, send := range map[string]func(mchandler.EventHandler, queue){
		"the update that removes the owner reference": func(h mchandler.EventHandler, q queue) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: owned, ObjectNew: orphaned}, q)
		},
		"the end of the deployment": func(h mchandler.EventHandler, q queue) { h.Delete(t.Context(), event.DeleteEvent{Object: orphaned}, q) },
		"an earlier one's":          func(h mchandler.EventHandler, q queue) { h.Delete(t.Context(), event.DeleteEvent{Object: owned}, q) },
	} {
		if got := f.requests(t, send); !slices.Equal(got, []string{"web"}) {
			t.Errorf("%s requeues %v, want web once", name, got)
		}
	}
	f.mustReconcile(t)
	if planes.Exists(t, f.Planes, workload) {
		t.Error("the Workload stays without a deployment")
	}
}

// TestForegroundDeletion: a Workload that is deleted with --cascade=foreground deletes its deployments in the
// background, and leaves the finalizer of the garbage collector to it.
func TestForegroundDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	f.deleteWith(t, f.readWorkload(t), metav1.DeletePropagationForeground)
	f.mustReconcile(t)
	f.withdraw(t)
	f.mustReconcile(t)
	if got := f.readWorkload(t).Finalizers; !slices.Equal(got, []string{metav1.FinalizerDeleteDependents}) || f.names(t) != "" {
		t.Errorf("the finalizers are %v, and deployments are %s", got, f.names(t))
	}
}

// TestOrphansOfAWorkloadThatIsGone: deployments whose Workload lost its finalizer by force, after --cascade=orphan, are
// deleted, even if a Workload of the name exists again, which then gets its own deployments.
func TestOrphansOfAWorkloadThatIsGone(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"no Workload has the name": false, "another Workload has the name": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "DFW")
			workload := f.workload(t, "main DFW")
			f.mustReconcile(t)
			f.deleteWith(t, f.readWorkload(t), metav1.DeletePropagationOrphan)
			f.orphan(t, workload, "web-main-dfw")
			planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Finalizers = nil })
			earlier := f.readDeployment(t, "web-main-dfw")
			if again {
				f.workload(t, "main DFW")
			}
			f.mustReconcile(t)
			if f.readDeployment(t, "web-main-dfw").DeletionTimestamp.IsZero() {
				t.Fatal("the deployment stays without its Workload")
			}
			f.withdraw(t)
			f.mustReconcile(t)
			if !again {
				if f.names(t) != "" {
					t.Errorf("deployments are %s", f.names(t))
				}
			} else if got := f.readDeployment(t, "web-main-dfw"); got.UID == earlier.UID || !metav1.IsControlledBy(got, f.readWorkload(t)) {
				t.Errorf("metadata is %+v", got.ObjectMeta)
			}
		})
	}
}

// TestTheGarbageCollectorMissesAnOwner: a deployment whose owner is gone is deleted, whatever became of the name. The control plane of a
// project was restored from a backup, a replica whose cache did not know that yet wrote a deployment of a Workload that is not in the
// backup, and the garbage collector took this Workload for present.
func TestTheGarbageCollectorMissesAnOwner(t *testing.T) {
	t.Parallel()
	wanting := func(t *testing.T, f *fixture) { f.workload(t, "main DFW") }
	for name, test := range map[string]struct {
		deployment string
		prepare    func(*testing.T, *fixture)
		want       string
	}{
		"no Workload has the name": {"web-main-dfw", func(*testing.T, *fixture) {}, ""},
		"no Workload, and the label is gone": {"web-main-dfw", func(t *testing.T, f *fixture) {
			planes.Change(t, f.Planes, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
				delete(d.Labels, v1alpha.LabelWorkloadUID)
			})
		}, ""},
		"another Workload has the name":         {"web-main-ord", wanting, "web-main-dfw"},
		"another Workload wants the deployment": {"web-main-dfw", wanting, "web-main-dfw"},
		"another Workload is being deleted": {"web-main-dfw", func(t *testing.T, f *fixture) {
			workload := f.workload(t, "main DFW")
			planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Finalizers = []string{v1alpha.FinalizerWorkload} })
			planes.Delete(t, f.Planes, workload)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "DFW")
			earlier := planes.Create(t, f.Planes, f.ofAnEarlierWorkload(test.deployment, "DFW"))
			test.prepare(t, f)
			f.mustReconcile(t)
			f.mustReconcile(t)
			if planes.Exists(t, f.Planes, earlier) && f.readDeployment(t, test.deployment).UID == earlier.UID {
				t.Error("the deployment of the earlier Workload stays")
			}
			if got := f.names(t); got != test.want {
				t.Errorf("deployments are %q, want %q", got, test.want)
			}
		})
	}
}

// TestTheCacheMissesAWorkload: a deployment stays that another replica has written for a Workload which the cache does not have yet.
func TestTheCacheMissesAWorkload(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.Project.Once("list", "WorkloadDeploymentList", func() error {
		later := f.workload(t, "main DFW")
		deployment := f.ofAnEarlierWorkload("web-main-dfw", "DFW")
		deployment.Labels[v1alpha.LabelWorkloadUID] = string(later.UID)
		deployment.OwnerReferences = []metav1.OwnerReference{later.ControllerReference()}
		planes.Create(t, f.Planes, deployment)
		return nil
	})
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("it writes %v", writes)
	}
	if got := f.readDeployment(t, "web-main-dfw"); !got.DeletionTimestamp.IsZero() {
		t.Error("the deployment of the later Workload is deleted")
	}
}

// TestALostOwnerReference: a deployment of a Workload that is not being deleted gets its owner reference back.
func TestALostOwnerReference(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	planes.Change(t, f.Planes, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) { d.OwnerReferences = nil })
	f.mustReconcile(t)
	if got := f.readDeployment(t, "web-main-dfw"); !metav1.IsControlledBy(got, workload) || !got.DeletionTimestamp.IsZero() {
		t.Errorf("metadata is %+v", got.ObjectMeta)
	}
}

// TestALabelOfAnotherWorkload: a deployment whose label names another Workload than its owner gets its label back.
func TestALabelOfAnotherWorkload(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	workload := f.workload(t, "main DFW")
	f.mustReconcile(t)
	before := planes.Change(t, f.Planes, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) {
		d.Labels[v1alpha.LabelWorkloadUID] = "of-an-earlier-one"
	})
	f.mustReconcile(t)
	got := f.readDeployment(t, "web-main-dfw")
	if got.UID != before.UID || !got.DeletionTimestamp.IsZero() || got.Labels[v1alpha.LabelWorkloadUID] != string(workload.UID) {
		t.Errorf("metadata is %+v", got.ObjectMeta)
	}
}
