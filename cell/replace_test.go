// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// replaced are the names of the Instances that were replaced in place and whose status is still of the earlier
// template.
func (f *fixture) replaced() []string {
	f.t.Helper()
	var list v1alpha.InstanceList
	if err := f.direct.List(f.t.Context(), &list, client.InNamespace(f.namespace)); err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		if owned.RunsEarlier(&list.Items[i]) {
			names = append(names, list.Items[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// halfAtOnce lets half of the Instances be replaced at once.
func halfAtOnce(d *v1alpha.WorkloadDeployment) {
	parallel(d)
	d.Spec.Rollout = &v1alpha.WorkloadRollout{MaxUnavailable: new(intstr.FromString("50%"))}
}

// newImage changes the template.
func newImage(d *v1alpha.WorkloadDeployment) {
	d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "example.com/new"
	d.Spec.Template.Annotations = map[string]string{"release": "2"}
}

// TestReplaceInPlace: an Instance that runs its template gets the next one with one write, stays the same object, and
// is neither Ready nor counted as such until its Pod has the template.
func TestReplaceInPlace(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2, halfAtOnce)
	for index := range 2 {
		f.running(deployment, index, func(i *v1alpha.Instance) { i.Annotations = map[string]string{"release": "1"} })
	}
	f.onNode("node", "web-0", "web-1")
	before, pod := f.storedInstance("web-1"), f.storedPod("web-1")
	f.changeDeployment(newImage)
	f.reconcile(f.deployments(), "web")

	wantInPlace(t, before, f.storedInstance("web-1"))
	if got := f.storedPod("web-1"); got.UID != pod.UID || got.DeletionTimestamp.IsZero() {
		t.Errorf("its Pod is not being deleted: %+v", got.ObjectMeta)
	}
	// Only as many as may be unavailable, also while the status is of the template before.
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); !slices.Equal(got, []string{"web-1"}) {
		t.Errorf("%v are replaced", got)
	}
	f.wantReplacementReported()

	f.clock.SetTime(now.Add(time.Minute))
	f.reconcile(f.runtime(), "web-1")
	f.wantReady("web-1", "-"+v1alpha.ReasonProvisioning)
	stopping := f.storedInstance("web-1")
	if stopping.Status.Controller.ObservedTemplateHash != before.TemplateHash() {
		t.Errorf("its Pod has template %q", stopping.Status.Controller.ObservedTemplateHash)
	}
	f.remove(f.storedPod("web-1"))
	f.reconcile(f.runtime(), "web-1")
	next := f.storedPod("web-1")
	if next == nil || next.UID == pod.UID || next.Spec.Containers[0].Image != "example.com/new" {
		t.Fatalf("its next Pod is %+v", next)
	}
	f.setPod(next, readyAt(now.Add(-time.Minute)))
	f.reconcile(f.runtime(), "web-1")
	f.wantReady("web-1", v1alpha.ReasonAvailable)
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); !slices.Equal(got, []string{"web-0"}) {
		t.Errorf("%v are replaced after it", got)
	}
}

// wantInPlace compares an Instance with itself after newImage: the same object has the next template, and does not
// count as Ready.
func wantInPlace(t *testing.T, before, after *v1alpha.Instance) {
	t.Helper()
	if after.UID != before.UID || after.Generation != before.Generation+1 || after.TemplateHash() == before.TemplateHash() ||
		after.Spec.Runtime.Sandbox.Containers[0].Image != "example.com/new" || after.Annotations["release"] != "2" {
		t.Errorf("the Instance is %+v", after)
	}
	if !owned.Ready(before) || owned.Ready(after) || len(owned.Conditions(after)) > 0 {
		t.Error("it counts as Ready with a template that no Pod has")
	}
}

// wantReplacementReported reports, and compares the report while web-1 of two Instances is replaced.
func (f *fixture) wantReplacementReported() {
	t := f.t
	t.Helper()
	f.rollUp()
	if status := f.storedDeployment().Status; status.ReadyReplicas != 1 || status.CurrentReplicas != 1 ||
		status.Replicas != 2 || status.Indices[0].Ready != "0" {
		t.Errorf("reported are %+v, %+v", status.ReplicaCounts, status.Indices)
	}
	if reported := wire.Instances(f.storedDeployment())[1]; len(reported.Conditions) > 0 || len(reported.NetworkInterfaces) != 1 {
		t.Errorf("reported is %+v; want no conditions, and the address of the Pod that is being stopped", reported)
	}
}

// TestReadySinceItsPod: an Instance whose status was not written between two Pods is Ready since the second one.
func TestReadySinceItsPod(t *testing.T) {
	f := newFixture(t)
	f.running(f.deployment(1, parallel), 0)
	f.changeDeployment(newImage)
	f.reconcile(f.deployments(), "web")
	f.eventually("the Pod is gone", func(context.Context) bool { return f.storedPod("web-0") == nil })
	later := now.Add(time.Hour)
	f.clock.SetTime(later)
	waiting := f.runtime()
	waiting.Passing = pace.NewWrites[types.NamespacedName](f.clock)
	f.reconcile(waiting, "web-0")
	f.setPod(f.storedPod("web-0"), readyAt(now.Add(-time.Minute)))
	if before := f.storedInstance("web-0"); !owned.Superseded(before) {
		t.Fatalf("its status was written: %+v", before.Status)
	}
	f.reconcile(waiting, "web-0")
	f.wantReady("web-0", v1alpha.ReasonAvailable)
	for _, condition := range f.storedInstance("web-0").Status.Conditions {
		if !condition.LastTransitionTime.Time.Equal(later) {
			t.Errorf("%s is %s since %s", condition.Type, condition.Status, condition.LastTransitionTime)
		}
	}
}

// TestReplacedByAnother: an Instance that cannot be replaced in place is deleted, and created again.
func TestReplacedByAnother(t *testing.T) {
	for name, given := range map[string]func(*fixture, *v1alpha.Instance){
		"its Pod has no template": func(f *fixture, i *v1alpha.Instance) {
			pod := f.storedPod(i.Name)
			delete(pod.Labels, v1alpha.LabelTemplateHash)
			f.update(pod)
		},
		"it has no Pod": func(f *fixture, i *v1alpha.Instance) { f.remove(f.storedPod(i.Name)) },
		"its Pod is of an Instance before": func(f *fixture, i *v1alpha.Instance) {
			pod := f.storedPod(i.Name)
			pod.OwnerReferences[0].UID = "earlier"
			f.update(pod)
		},
		"its status is of the template before": func(f *fixture, i *v1alpha.Instance) {
			i.Status.Controller.ObservedTemplateHash = "earlier"
			if err := f.direct.Status().Update(f.t.Context(), i); err != nil {
				f.t.Fatal(err)
			}
		},
		"it is of an earlier Workload": func(f *fixture, i *v1alpha.Instance) {
			i.Labels[v1alpha.LabelWorkloadUID] = "earlier"
			f.update(i)
		},
		"another runtime runs the next template": func(f *fixture, _ *v1alpha.Instance) {
			f.changeDeployment(ofClass)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.running(f.deployment(1, parallel), 0)
			f.changeDeployment(newImage)
			given(f, f.storedInstance("web-0"))
			f.reconcile(f.deployments(), "web")
			f.wantInstances(nil, []string{"web-0"})
		})
	}
}

// TestReplaceRaces: an Instance that changes meanwhile is not replaced for a state that it had. With a budget its Pod
// is evicted by then, so that it is replaced as it is now.
func TestReplaceRaces(t *testing.T) {
	for name, floor := range map[string]bool{"without a budget": false, "with a budget": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			changes := []func(*v1alpha.WorkloadDeployment){halfAtOnce}
			if floor {
				changes = append(changes, withFloor(2, 1, 1))
			}
			deployment := f.deployment(2, changes...)
			f.running(deployment, 0)
			f.running(deployment, 1)
			f.onNode("node", "web-0", "web-1")
			if floor {
				f.reconcile(f.disruption(), "web")
				f.settleBudget()
			}
			f.changeDeployment(newImage)
			r, _ := f.evicting()
			var once sync.Once
			r.Client = interceptor.NewClient(f.cached, interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
					once.Do(func() {
						changed := f.storedInstance(object.GetName())
						changed.Annotations = map[string]string{"changed": "meanwhile"}
						f.update(changed)
					})
					return c.Patch(ctx, object, patch, opts...)
				},
			})
			f.reconcile(r, "web")
			f.wantInstances([]string{"web-0", "web-1"}, nil)
			if floor {
				if got := f.replaced(); !slices.Equal(got, []string{"web-1"}) {
					t.Errorf("replaced are %v", got)
				}
				return
			}
			if got := f.replaced(); len(got) > 0 || !f.storedPod("web-1").DeletionTimestamp.IsZero() {
				t.Errorf("replaced are %v", got)
			}
		})
	}
}

// TestEarlierPodIsStopped: the agent ended after it had replaced an Instance, before it stopped the Pod. The Pod is
// stopped later, once, as the budget allows, and is neither taken for one of the new template nor labelled as such.
func TestEarlierPodIsStopped(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(2, halfAtOnce)
	f.running(deployment, 0)
	f.running(deployment, 1)
	f.onNode("node", "web-0", "web-1")
	f.changeDeployment(newImage)
	r := f.deployments()
	r.Client = interceptor.NewClient(f.cached, interceptor.Funcs{
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return context.Canceled
		},
	})
	f.sync()
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(deployment)}); err == nil {
		t.Fatal("the Pod was deleted")
	}
	f.reconcile(f.runtime(), "web-1")
	f.wantReady("web-1", "-"+v1alpha.ReasonProvisioning)
	pod := f.storedPod("web-1")
	if !pod.DeletionTimestamp.IsZero() || pod.Labels[v1alpha.LabelTemplateHash] == f.storedInstance("web-1").TemplateHash() {
		t.Fatalf("its Pod is %+v", pod.ObjectMeta)
	}
	f.changeDeployment(withFloor(2, 1, 1))
	f.reconcile(f.disruption(), "web")
	f.settleBudget()
	evicting, registry := f.evicting()
	for range 2 {
		f.reconcile(evicting, "web")
	}
	wantEvictions(t, registry, "1", "0")
	if pod := f.storedPod("web-1"); pod.DeletionTimestamp.IsZero() {
		t.Error("its Pod is not stopped")
	}
	if condition := meta.FindStatusCondition(f.storedInstance("web-1").Status.Conditions,
		v1alpha.ConditionAvailable); condition.Status != metav1.ConditionFalse {
		t.Errorf("Available is %+v", condition)
	}
}
