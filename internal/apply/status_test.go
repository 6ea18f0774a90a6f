// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func condition(kind, message string) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: "Test", Message: message, LastTransitionTime: metav1.NewTime(time.Unix(1000, 0)),
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	deployment := planes.Create(t, p, p.Deployment("web", "DFW"))
	read := func() *v1alpha.WorkloadDeployment {
		return planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
	}
	if err := apply.Conditions(t.Context(), p.Client, other, deployment, condition("Theirs", "1")); err != nil {
		t.Fatal(err)
	}
	first := read()
	first.Spec.ScaleSettings.MinReplicas = 9
	first.Status = v1alpha.WorkloadDeploymentStatus{
		ObservedGeneration: 3, Conditions: []metav1.Condition{condition("Available", "1"), condition("Progressing", "1")},
	}
	if err := apply.Status(t.Context(), p.Client, manager, first); err != nil {
		t.Fatal(err)
	}
	got := read()
	if got.Status.ObservedGeneration != 3 || len(got.Status.Conditions) != 3 {
		t.Errorf("the status is %+v", got.Status)
	}
	if got.Spec.ScaleSettings.MinReplicas != 2 {
		t.Error("the spec was written with the status")
	}
	second := read()
	second.Status = v1alpha.WorkloadDeploymentStatus{Conditions: []metav1.Condition{condition("Available", "2")}}
	if err := apply.Status(t.Context(), p.Client, manager, second); err != nil {
		t.Fatal(err)
	}
	got = read()
	if got.Status.ObservedGeneration != 0 || len(got.Status.Conditions) != 2 ||
		meta.FindStatusCondition(got.Status.Conditions, "Available").Message != "2" {
		t.Errorf("what is not in the status any more stays: %+v", got.Status)
	}
	if meta.FindStatusCondition(got.Status.Conditions, "Theirs") == nil {
		t.Error("a condition of another field manager was removed")
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	deployment := planes.Create(t, p, p.Deployment("web", "DFW"))
	others := deployment.DeepCopy()
	others.Status = v1alpha.WorkloadDeploymentStatus{ObservedGeneration: 3, Conditions: []metav1.Condition{condition("Theirs", "1")}}
	if err := apply.Status(t.Context(), p.Client, other, others); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		write []metav1.Condition
		want  map[string]string
	}{
		{[]metav1.Condition{condition("A", "1"), condition("B", "1")}, map[string]string{"A": "1", "B": "1", "Theirs": "1"}},
		{[]metav1.Condition{condition("B", "2")}, map[string]string{"B": "2", "Theirs": "1"}},
		{nil, map[string]string{"Theirs": "1"}},
	}
	for _, test := range tests {
		newest := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
		if err := apply.Conditions(t.Context(), p.Client, manager, newest, test.write...); err != nil {
			t.Fatal(err)
		}
		got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{}).Status
		if len(got.Conditions) != len(test.want) || got.ObservedGeneration != 3 {
			t.Errorf("after %v: %+v", test.write, got)
		}
		for _, one := range got.Conditions {
			if one.Message != test.want[one.Type] {
				t.Errorf("after %v: %+v", test.write, one)
			}
		}
	}
}

// TestAStatusIsNotWrittenToAnother: a status is written neither to a later object of the same name, nor to a later
// version of the same object, nor if the object does not exist.
func TestAStatusIsNotWrittenToAnother(t *testing.T) {
	t.Parallel()
	write := map[string]func(*testing.T, *planes.Planes, *v1alpha.WorkloadDeployment) error{
		"Status": func(t *testing.T, p *planes.Planes, d *v1alpha.WorkloadDeployment) error {
			t.Helper()
			d.Status.ObservedGeneration = 3
			return apply.Status(t.Context(), p.Client, manager, d)
		},
		"Conditions": func(t *testing.T, p *planes.Planes, d *v1alpha.WorkloadDeployment) error {
			t.Helper()
			return apply.Conditions(t.Context(), p.Client, manager, d, condition("Available", "1"))
		},
	}
	for name, write := range write {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planes.New(t)
			first := planes.Create(t, p, p.Deployment("web", "DFW"))
			planes.Delete(t, p, first)
			if err := write(t, p, first.DeepCopy()); !apierrors.IsNotFound(err) {
				t.Errorf("to a deleted object: %v", err)
			}
			if planes.Exists(t, p, first) {
				t.Error("a status made an object")
			}
			second := planes.Create(t, p, p.Deployment("web", "DFW"))
			if err := write(t, p, first.DeepCopy()); !apierrors.IsConflict(err) {
				t.Errorf("to a recreated object: %v", err)
			}
			stale := second.DeepCopy()
			planes.Change(t, p, second, func(d *v1alpha.WorkloadDeployment) { d.Spec.Replicas = new(int32(5)) })
			if err := write(t, p, stale); !apierrors.IsConflict(err) {
				t.Errorf("to a changed object: %v", err)
			}
			if got := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{}); got.ResourceVersion != second.ResourceVersion {
				t.Errorf("the recreated object is %+v", got)
			}
			whatever := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace.Name, Name: "web"}}
			if err := write(t, p, whatever); err != nil {
				t.Errorf("to whatever version there is: %v", err)
			}
		})
	}
}
