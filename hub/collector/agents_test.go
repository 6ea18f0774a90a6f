// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector_test

import (
	"context"
	"slices"
	"testing"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// createForTheTest creates an object until the test ends: another test has no agents.
func (f *fixture) createForTheTest(t *testing.T, object client.Object) {
	t.Helper()
	planes.Create(t, f.Planes, object)
	t.Cleanup(func() {
		// The context of the test has ended.
		if err := f.Client.Delete(context.WithoutCancel(t.Context()), object); err != nil {
			t.Error(err)
		}
	})
}

// TestAgentsWorksAreRepaired: a Work of the agent that is missing, or that carries an object of another party, triggers a Karmada
// reconcile of its binding; a Work that Karmada has forgotten is applied again. The chart's policy lets the add-on do that.
func TestAgentsWorksAreRepaired(t *testing.T) {
	f := newFixture(t)
	planes.Ensure(t, f.Planes, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cells.Binding.Namespace}}, func(*corev1.Namespace) {})
	binding := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: cells.Binding.Namespace, Name: cells.Binding.Name}}
	binding.Spec.Resource = workv1alpha2.ObjectReference{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: cells.Binding.Namespace, Name: cells.AgentDeployment, ResourceVersion: "7",
	}
	binding.Spec.Clusters = []workv1alpha2.TargetCluster{{Name: f.cell.Name, Replicas: 2}, {Name: "no-cell"}}
	f.createForTheTest(t, binding)
	version := func() string {
		t.Helper()
		return planes.Get(t, f.Planes, binding.Namespace, binding.Name, &workv1alpha2.ResourceBinding{}).Spec.Resource.ResourceVersion
	}
	pass := func(later time.Duration) {
		t.Helper()
		f.clock.Step(later)
		if err := f.inventory.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	pass(0)
	pass(after - time.Second)
	if got := version(); got != "7" {
		t.Fatalf("Karmada had no time to create the Work: %s", got)
	}
	pass(time.Second)
	if got := version(); got != "0" {
		t.Fatalf("without the Work, the binding has version %s", got)
	}
	pass(time.Minute)
	if got := version(); got != "1" {
		t.Errorf("the next repair writes version %s, which changes nothing", got)
	}

	work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(f.cell.Name),
		Name:      karmadanames.GenerateWorkName("Deployment", cells.AgentDeployment, cells.Binding.Namespace),
		Annotations: map[string]string{
			workv1alpha2.ResourceBindingNamespaceAnnotationKey: "m", workv1alpha2.ResourceBindingNameAnnotationKey: "stolen-configmap",
		},
	}}
	manifest := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"karmada-compute-cell","namespace":"m"}}`)
	work.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: manifest}}}
	planes.Create(t, f.Planes, work)
	pass(5 * time.Minute)
	if got := version(); got != "0" {
		t.Errorf("with the object of somebody else, the binding has version %s", got)
	}

	// Karmada makes it ours, and forgets to apply it.
	planes.Change(t, f.Planes, work, func(w *workv1alpha1.Work) {
		w.Annotations[workv1alpha2.ResourceBindingNamespaceAnnotationKey] = cells.Binding.Namespace
		w.Annotations[workv1alpha2.ResourceBindingNameAnnotationKey] = cells.Binding.Name
	})
	pass(0)
	pass(after)
	got := planes.Get(t, f.Planes, work.Namespace, work.Name, &workv1alpha1.Work{})
	if got.Spec.SuspendDispatching == nil || *got.Spec.SuspendDispatching || got.Generation == work.Generation {
		t.Errorf("Karmada has no event of the Work that it has forgotten: %+v", got.Spec)
	}
	planes.ChangeStatus(t, f.Planes, work, func(w *workv1alpha1.Work) {
		applied := metav1.Condition{Type: workv1alpha1.WorkApplied, Status: metav1.ConditionTrue, Reason: "Applied"}
		meta.SetStatusCondition(&w.Status.Conditions, applied)
	})
	for what, attempt := range map[string]struct {
		object client.Object
		patch  string
	}{
		"the cells of the agents":   {binding, `{"spec":{"clusters":[]}}`},
		"the object of the agents":  {binding, `{"spec":{"resource":{"name":"mine"}}}`},
		"what a Work carries":       {work, `{"spec":{"workload":{"manifests":[]}}}`},
		"the dispatching of a Work": {work, `{"spec":{"suspendDispatching":true}}`},
		"the labels of a Work":      {work, `{"metadata":{"labels":{"a":"b"}}}`},
	} {
		object, _ := attempt.object.DeepCopyObject().(client.Object)
		if err := f.Hub.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(attempt.patch))); !apierrors.IsForbidden(err) {
			t.Errorf("the add-on may change %s: %v", what, err)
		}
	}
	before := version()
	f.Hub.Writes()
	pass(time.Hour)
	for _, write := range f.Hub.Writes() {
		if write.Name == binding.Name || write.Name == work.Name {
			t.Errorf("it does not settle: %+v", write)
		}
	}
	if version() != before {
		t.Error("it does not settle")
	}
}

// TestAgentsClusterWorksAreRepaired: a Work of an object of the agents without a namespace is repaired as the others, and a Work of
// another product is not. The chart's policy lets the add-on do that, and no more.
func TestAgentsClusterWorksAreRepaired(t *testing.T) {
	f := newFixture(t)
	bound := func(kind, name string) *workv1alpha2.ClusterResourceBinding {
		binding := &workv1alpha2.ClusterResourceBinding{ObjectMeta: metav1.ObjectMeta{Name: karmadanames.GenerateBindingName(kind, name)}}
		binding.Spec.Resource = workv1alpha2.ObjectReference{APIVersion: "v1", Kind: kind, Name: name, ResourceVersion: "7"}
		binding.Spec.Clusters = []workv1alpha2.TargetCluster{{Name: f.cell.Name}}
		f.createForTheTest(t, binding)
		return binding
	}
	role := bound("ClusterRole", cells.AgentDeployment)
	bindings := []*workv1alpha2.ClusterResourceBinding{
		role, bound("Namespace", cells.Binding.Namespace), bound("CustomResourceDefinition", "cells.compute.datumapis.com"),
		bound("ClusterRole", "of-another-product"),
	}
	versions := func() (all []string) {
		t.Helper()
		for _, binding := range bindings {
			live := planes.Get(t, f.Planes, "", binding.Name, &workv1alpha2.ClusterResourceBinding{})
			all = append(all, live.Spec.Resource.ResourceVersion)
		}
		return all
	}
	pass := func(later time.Duration) {
		t.Helper()
		f.clock.Step(later)
		if err := f.inventory.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	pass(0)
	pass(after)
	if got := versions(); !slices.Equal(got, []string{"0", "0", "0", "7"}) {
		t.Fatalf("without the Works, the bindings have the versions %v", got)
	}
	work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(f.cell.Name), Name: karmadanames.GenerateWorkName("ClusterRole", cells.AgentDeployment, ""),
		Annotations: map[string]string{workv1alpha2.ClusterResourceBindingAnnotationKey: role.Name},
	}}
	manifest := []byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"karmada-compute-cell"}}`)
	work.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: manifest}}}
	planes.Create(t, f.Planes, work)
	pass(0)
	pass(after)
	got := planes.Get(t, f.Planes, work.Namespace, work.Name, &workv1alpha1.Work{})
	if got.Spec.SuspendDispatching == nil || *got.Spec.SuspendDispatching || got.Generation == work.Generation {
		t.Errorf("Karmada has no event of the Work that it has forgotten: %+v", got.Spec)
	}
	for what, attempt := range map[string]struct {
		object client.Object
		patch  string
	}{
		"the cells of the agents":      {role, `{"spec":{"clusters":[]}}`},
		"the object of the agents":     {role, `{"spec":{"resource":{"name":"mine"}}}`},
		"a binding of another product": {bindings[3], `{"spec":{"resource":{"resourceVersion":"0"}}}`},
		"what a Work carries":          {work, `{"spec":{"workload":{"manifests":[]}}}`},
	} {
		object, _ := attempt.object.DeepCopyObject().(client.Object)
		if err := f.Hub.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(attempt.patch))); !apierrors.IsForbidden(err) {
			t.Errorf("the add-on may change %s: %v", what, err)
		}
	}
}
