// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

const (
	ours   = "compute.datumapis.com/test"
	theirs = "example.com/theirs"
)

func TestMetadataDiffers(t *testing.T) {
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "uid"}
	full := func() *v1alpha.Instance {
		return &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "1"}, Finalizers: []string{ours},
			OwnerReferences: []metav1.OwnerReference{owner},
		}}
	}
	tests := map[string]struct {
		change func(*v1alpha.Instance)
		want   bool
	}{
		"nothing":            {func(*v1alpha.Instance) {}, false},
		"another label":      {func(i *v1alpha.Instance) { i.Labels["theirs"] = "1" }, false},
		"another annotation": {func(i *v1alpha.Instance) { i.Annotations["theirs"] = "1" }, false},
		"another finalizer":  {func(i *v1alpha.Instance) { i.Finalizers = append(i.Finalizers, theirs) }, false},
		"another owner": {func(i *v1alpha.Instance) {
			i.OwnerReferences = append(i.OwnerReferences, metav1.OwnerReference{UID: "x"})
		}, false},
		"a changed label":           {func(i *v1alpha.Instance) { i.Labels["a"] = "2" }, true},
		"a missing label":           {func(i *v1alpha.Instance) { i.Labels = nil }, true},
		"an empty label":            {func(i *v1alpha.Instance) { i.Labels["a"] = "" }, true},
		"a changed annotation":      {func(i *v1alpha.Instance) { i.Annotations["b"] = "2" }, true},
		"a missing finalizer":       {func(i *v1alpha.Instance) { i.Finalizers = nil }, true},
		"an owner with other UID":   {func(i *v1alpha.Instance) { i.OwnerReferences[0].UID = "x" }, true},
		"an owner that controls":    {func(i *v1alpha.Instance) { i.OwnerReferences[0].Controller = new(true) }, true},
		"a missing owner":           {func(i *v1alpha.Instance) { i.OwnerReferences = nil }, true},
		"other parts than metadata": {func(i *v1alpha.Instance) { i.Spec.Location = &v1alpha.LocationReference{} }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			existing := full()
			test.change(existing)
			if got := apply.MetadataDiffers(existing, full()); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestAddMetadata(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	deployment := p.Deployment("web", "DFW")
	deployment.Finalizers = []string{theirs}
	deployment.Annotations = map[string]string{"theirs": "1"}
	planes.Create(t, p, deployment)
	stale := deployment.DeepCopy()
	wanted := metav1.ObjectMeta{Annotations: map[string]string{"ours": "1"}, Finalizers: []string{ours}}
	p.Project.Calls()
	for range 2 {
		if err := apply.AddMetadata(t.Context(), p.Project, manager, deployment, wanted); err != nil {
			t.Fatal(err)
		}
	}
	if writes := p.Project.Writes(); len(writes) != 1 {
		t.Errorf("writes %v", writes)
	}
	got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
	if !slices.Equal(got.Finalizers, []string{theirs, ours}) || got.Annotations["ours"] != "1" || got.Annotations["theirs"] != "1" {
		t.Errorf("got %+v", got.ObjectMeta)
	}
	if deployment.ResourceVersion != got.ResourceVersion {
		t.Error("the object is not the newest version after the write")
	}
	if err := apply.AddMetadata(t.Context(), p.Project, manager, stale, wanted); !apierrors.IsConflict(err) {
		t.Errorf("to an old version: %v", err)
	}
}

func TestAddMetadataWithout(t *testing.T) {
	t.Parallel()
	tests := map[string]metav1.ObjectMeta{
		"the annotation": {Finalizers: []string{ours}, Annotations: map[string]string{"ours": "0"}},
		"the finalizer":  {Annotations: map[string]string{"ours": "1"}},
		"both":           {},
	}
	for name, before := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planes.New(t)
			deployment := p.Deployment("web", "DFW")
			deployment.Finalizers, deployment.Annotations = before.Finalizers, before.Annotations
			planes.Create(t, p, deployment)
			if err := apply.AddMetadata(t.Context(), p.Project, manager, deployment, metav1.ObjectMeta{
				Annotations: map[string]string{"ours": "1"}, Finalizers: []string{ours},
			}); err != nil {
				t.Fatal(err)
			}
			got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
			if !slices.Equal(got.Finalizers, []string{ours}) || got.Annotations["ours"] != "1" {
				t.Errorf("got %+v", got.ObjectMeta)
			}
		})
	}
}

func TestRemoveFinalizer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		finalizers []string
		// between runs after the object was read.
		between        func(*testing.T, *planes.Planes, *v1alpha.WorkloadDeployment)
		wantConflict   bool
		wantFinalizers []string
		wantWrites     int
	}{
		"ours goes, theirs stays": {finalizers: []string{ours, theirs}, wantFinalizers: []string{theirs}, wantWrites: 1},
		"ours is not there":       {finalizers: []string{theirs}, wantFinalizers: []string{theirs}},
		"another writer came first": {
			finalizers: []string{ours},
			between: func(t *testing.T, p *planes.Planes, d *v1alpha.WorkloadDeployment) {
				t.Helper()
				planes.Change(t, p, d, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = append(d.Finalizers, theirs) })
			},
			wantConflict: true, wantFinalizers: []string{ours, theirs}, wantWrites: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planes.New(t)
			deployment := p.Deployment("web", "DFW")
			deployment.Finalizers = test.finalizers
			planes.Create(t, p, deployment)
			read := deployment.DeepCopy()
			if test.between != nil {
				test.between(t, p, deployment)
			}
			err := apply.RemoveFinalizer(t.Context(), p.Project, manager, read, ours)
			if apierrors.IsConflict(err) != test.wantConflict || err != nil && !test.wantConflict {
				t.Errorf("got %v", err)
			}
			got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
			if !slices.Equal(got.Finalizers, test.wantFinalizers) || len(p.Project.Writes()) != test.wantWrites {
				t.Errorf("finalizers are %v", got.Finalizers)
			}
		})
	}
}

// TestRemoveFinalizerOfAnObjectThatIsGone: the removal is no error, since the finalizer no longer exists.
func TestRemoveFinalizerOfAnObjectThatIsGone(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	deployment := p.Deployment("web", "DFW")
	deployment.Finalizers = []string{ours}
	planes.Create(t, p, deployment)
	read := deployment.DeepCopy()
	planes.Change(t, p, deployment, func(d *v1alpha.WorkloadDeployment) { d.Finalizers = nil })
	planes.Delete(t, p, deployment)
	if err := apply.RemoveFinalizer(t.Context(), p.Project, manager, read, ours); err != nil {
		t.Errorf("got %v", err)
	}
	second := p.Deployment("web", "DFW")
	second.Finalizers = []string{ours}
	planes.Create(t, p, second)
	if err := apply.RemoveFinalizer(t.Context(), p.Project, manager, deployment.DeepCopy(), ours); err != nil {
		t.Errorf("without the finalizer: %v", err)
	}
	if err := apply.RemoveFinalizer(t.Context(), p.Project, manager, withFinalizer(read), ours); !apierrors.IsConflict(err) {
		t.Errorf("of a recreated object: %v", err)
	}
	if got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{}); len(got.Finalizers) != 1 {
		t.Error("the finalizer of the recreated object was removed")
	}
}

func withFinalizer(d *v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	d.Finalizers = []string{ours}
	return d
}
