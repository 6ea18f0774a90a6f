// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"context"
	"testing"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestRequests: an event of any object on the hub requeues the deployments that need it, whether their copies exist or
// not.
func TestRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	planes.Create(t, f.Planes, f.Deployment("not-propagated", f.city))
	objects := map[string]struct {
		mapper mapper
		object client.Object
	}{
		"the namespace": {f.reconciler.originalsIn(nameOf), read(t, f, f.namespace())},
		"the policy":    {f.reconciler.originalsIn(namespaceOf), read(t, f, f.policy())},
		"the Work":      {f.reconciler.originalsIn(labelledNamespace), read(t, f, f.work())},
		"the cell":      {f.reconciler.originalsOfCity, f.cell},
	}
	for name, test := range objects {
		if got := test.mapper(t.Context(), test.object); len(got) != 1 || got[0] != f.request("web") {
			t.Errorf("%s requeues %v", name, got)
		}
	}
	planes.Delete(t, f.Planes, f.copied())
	delete(objects, "the cell")
	for name, test := range objects {
		if got := test.mapper(t.Context(), test.object); len(got) != 1 || got[0] != f.request("web") {
			t.Errorf("without a copy, %s requeues %v", name, got)
		}
		test.object.SetAnnotations(nil)
		if got := test.mapper(t.Context(), test.object); len(got) > 0 {
			t.Errorf("%s of another project requeues %v", name, got)
		}
	}
	f.cell.Labels = nil
	if got := f.reconciler.originalsOfCity(t.Context(), f.cell); len(got) > 0 {
		t.Errorf("a cell without a city requeues %v", got)
	}
}

func TestPolicyEdited(t *testing.T) {
	now := metav1.Now()
	tests := map[string]struct {
		change func(*policyv1alpha1.PropagationPolicy)
		want   bool
	}{
		"nothing":         {func(*policyv1alpha1.PropagationPolicy) {}, false},
		"its spec":        {func(p *policyv1alpha1.PropagationPolicy) { p.Generation = 2 }, true},
		"its deletion":    {func(p *policyv1alpha1.PropagationPolicy) { p.DeletionTimestamp = &now }, true},
		"Karmada's label": {func(p *policyv1alpha1.PropagationPolicy) { p.Labels = map[string]string{"a": "b"} }, false},
	}
	for name, test := range tests {
		after := &policyv1alpha1.PropagationPolicy{}
		test.change(after)
		if got := policyEdited().Update(event.UpdateEvent{ObjectOld: &policyv1alpha1.PropagationPolicy{}, ObjectNew: after}); got != test.want {
			t.Errorf("an update of %s: %t", name, got)
		}
	}
	if policyEdited().Create(event.CreateEvent{Object: &policyv1alpha1.PropagationPolicy{}}) ||
		!policyEdited().Delete(event.DeleteEvent{Object: &policyv1alpha1.PropagationPolicy{}}) {
		t.Error("a creation counts, or an end does not")
	}
}

func TestConcernsCopy(t *testing.T) {
	type deployment = v1alpha.WorkloadDeployment
	tests := map[string]struct {
		change func(*deployment)
		want   bool
	}{
		"nothing":                       {func(*deployment) {}, false},
		"an Instance that is Ready":     {func(d *deployment) { d.Status.ReadyReplicas = 1 }, false},
		"its spec":                      {func(d *deployment) { d.Generation = 8 }, true},
		"its hub namespace":             {func(d *deployment) { d.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: "a"} }, true},
		"its finalizer":                 {func(d *deployment) { d.Finalizers = nil }, true},
		"the generation of its cells":   {func(d *deployment) { d.Status.ObservedGeneration = 6 }, true},
		"the last Instance is replaced": {func(d *deployment) { d.Status.CurrentReplicas = 2 }, true},
	}
	for name, test := range tests {
		before := &deployment{}
		before.Generation, before.Finalizers = 7, []string{v1alpha.FinalizerPropagation}
		before.Status.ObservedGeneration, before.Status.Replicas, before.Status.DesiredReplicas, before.Status.CurrentReplicas = 7, 2, 2, 1
		after := before.DeepCopy()
		test.change(after)
		if got := concernsCopy().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
			t.Errorf("an update of %s: %t", name, got)
		}
	}
}

// TestTheFirstWaitsForTheLast: while the last deployment of a city decides to remove the policy, the first of the next
// ones must not find it.
func TestTheFirstWaitsForTheLast(t *testing.T) {
	t.Parallel()
	f := propagated(t)
	end(t, f, f.copied())
	planes.Delete(t, f.Planes, f.original)
	f.mustReconcile(t, "web")

	ended := make(chan error, 1)
	f.Hub.Once("delete", "PropagationPolicy", func() error {
		planes.Create(t, f.Planes, f.Deployment("next", f.city))
		started := make(chan struct{})
		go func() {
			close(started)
			_, err := f.reconciler.Reconcile(context.WithoutCancel(t.Context()), f.request("next"))
			ended <- err
		}()
		<-started
		select {
		case err := <-ended:
			t.Errorf("it did not wait: %v", err)
			ended <- err
		case <-time.After(500 * time.Millisecond):
		}
		return nil
	})
	f.mustReconcile(t, "web")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	next := f.copied()
	next.Name = "next"
	if planes.Exists(t, f.Planes, next) || planes.Exists(t, f.Planes, f.policy()) {
		t.Error("the next one does not wait for the Work that the last one has deleted")
	}
	if !read(t, f, f.namespace()).DeletionTimestamp.IsZero() {
		t.Error("the last one has deleted the namespace that the next one needs")
	}
	end(t, f, f.work())
	f.mustReconcile(t, "next")
	if !planes.Exists(t, f.Planes, next) || !planes.Exists(t, f.Planes, f.policy()) {
		t.Error("the next one has no copy or policy")
	}
}
