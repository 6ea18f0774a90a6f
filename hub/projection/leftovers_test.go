// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// show writes the projection of an Instance of a deployment web, which may be gone, as a late replica does.
func (f *fixture) show(t *testing.T, deployment *v1alpha.WorkloadDeployment, index int) {
	t.Helper()
	if _, err := apply.Object(t.Context(), f.Client, FieldManager, &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.Namespace.Name, Name: naming.InstanceName("web", index),
		Labels:          map[string]string{v1alpha.LabelDeploymentName: "web", v1alpha.LabelDeploymentUID: string(deployment.UID)},
		OwnerReferences: []metav1.OwnerReference{deployment.ControllerReference()},
	}, Spec: planes.Template("registry.example/app:1").Spec}); err != nil {
		t.Fatal(err)
	}
}

// newLeft is a project whose deployment is gone, and whose garbage collector had its time to delete Instances web-0 and web-1.
func newLeft(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.serve(t)
	planes.Delete(t, f.Planes, f.original)
	f.mustReconcile(t)
	f.clock.SetTime(f.clock.Now().Add(collectorPatience))
	return f
}

// TestTheGarbageCollectorMissesADeployment: Instances of a deployment that is not in the backup of a project, which a late replica has
// written, are deleted when the garbage collector had its time. A deployment of the name adopts what it needs.
func TestTheGarbageCollectorMissesADeployment(t *testing.T) {
	t.Parallel()
	earlier := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "of-an-earlier-one"}}
	for name, gone := range map[string]bool{"another deployment has the name": false, "no deployment has the name": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if gone {
				planes.Delete(t, f.Planes, f.original)
			} else {
				f.report(t, f.instances(t, 1)...)
				f.mustReconcile(t)
				f.report(t, f.instances(t, 0, 1)...)
			}
			f.show(t, earlier, 0)
			f.show(t, earlier, 40)

			f.mustReconcile(t)
			if f.requeued == 0 || f.requeued > collectorPatience {
				t.Errorf("it is tried again after %s", f.requeued)
			}
			if !f.exists(t, "web-0") || !f.exists(t, "web-40") {
				t.Error("the garbage collector gets no time")
			}
			f.clock.SetTime(f.clock.Now().Add(collectorPatience))
			f.mustReconcile(t)
			if f.exists(t, "web-0") == gone || f.exists(t, "web-40") || f.exists(t, "web-1") == gone {
				t.Errorf("web-0 exists: %t, web-40: %t, web-1: %t", f.exists(t, "web-0"), f.exists(t, "web-40"), f.exists(t, "web-1"))
			}
			if !gone && !metav1.IsControlledBy(f.readInstance(t, "web-0"), f.original) {
				t.Error("web-0 is not the deployment's")
			}
			f.clock.SetTime(f.clock.Now().Add(time.Hour))
			if writes := f.mustReconcile(t); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

// TestTheGarbageCollectorHasTimeAgain: the time begins again when Instances were not left for a while.
func TestTheGarbageCollectorHasTimeAgain(t *testing.T) {
	t.Parallel()
	f := newLeft(t)
	f.mustReconcile(t)
	f.mustReconcile(t)
	f.show(t, f.original, 1)
	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	f.mustReconcile(t)
	if !f.exists(t, "web-1") || f.requeued != collectorPatience {
		t.Errorf("web-1 exists: %t; it is tried again after %s", f.exists(t, "web-1"), f.requeued)
	}
}

// TestTheCacheMissesADeployment: Instances stay whose deployment the cache does not have yet.
func TestTheCacheMissesADeployment(t *testing.T) {
	t.Parallel()
	f := newLeft(t)
	f.Project.Once("list", "InstanceList", func() error {
		later := planes.Create(t, f.Planes, f.Deployment("web", f.city))
		f.show(t, later, 7)
		return nil
	})
	f.mustReconcile(t)
	if f.exists(t, "web-0") || !f.exists(t, "web-7") {
		t.Error("not exactly the Instances of the earlier deployment are deleted")
	}
}

// TestALabelOfAnotherDeployment: an Instance whose label names another deployment than its owner is not deleted.
func TestALabelOfAnotherDeployment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve(t)
	mislabel := func(i *v1alpha.Instance) { i.Labels[v1alpha.LabelDeploymentUID] = "of-an-earlier-one" }
	planes.Change(t, f.Planes, f.readInstance(t, "web-0"), mislabel)
	f.mustReconcile(t)
	if got := f.readInstance(t, "web-0"); got.Labels[v1alpha.LabelDeploymentUID] != string(f.original.UID) {
		t.Errorf("the labels are %v", got.Labels)
	}
	// Nothing reports web-40, so that nothing writes its label.
	f.show(t, f.original, 40)
	planes.Change(t, f.Planes, f.readInstance(t, "web-40"), mislabel)
	planes.Delete(t, f.Planes, f.copied)
	for range 2 {
		f.mustReconcile(t)
		f.clock.SetTime(f.clock.Now().Add(collectorPatience))
	}
	if !f.exists(t, "web-40") {
		t.Error("the Instance of the present deployment is deleted")
	}
}
