// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// runsWithData returns a Workload in DFW and ORD that runs with ConfigMap app, whose content is part of its revisions.
func runsWithData(t *testing.T) (*fixture, *cell) {
	t.Helper()
	f := newFixture(t, "DFW ORD SEA")
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web"}}
	workload.Spec.Template, workload.Spec.Placements = planes.Template("registry.example/app:1"), placementsOf([]string{"main DFW ORD"})
	workload.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{{
		Name: "app", InstanceVolumeSource: v1alpha.InstanceVolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "app"}},
		},
	}}
	workload.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
	planes.Create(t, f.Planes, workload)
	f.mustReconcile(t)
	// hub/references has read the content of the data.
	err := apply.StatusFields(t.Context(), f.Project, "references", f.readWorkload(t), map[string]any{"data": &v1alpha.WorkloadDataStatus{
		Objects: []v1alpha.DataVersion{{Kind: "ConfigMap", Name: "app", Hash: "0000000000000b10"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	f.mustReconcile(t)
	c := f.cell()
	c.settle(t)
	return f, c
}

// TestAStepNeedsTheNewestData: a step is not taken by data that the cache has and the API server has no more.
func TestAStepNeedsTheNewestData(t *testing.T) {
	t.Parallel()
	f, _ := runsWithData(t)
	project, err := projects.Find(t.Context(), f.Planes, planes.ProjectName)
	if err != nil {
		t.Fatal(err)
	}
	stale := f.readWorkload(t)
	stale.Status.Data.Objects[0].Hash = "0000000000000red"
	s := f.reconciler.scope(f.request(), project, stale)
	if err := s.confirm(t.Context(), &plan.Facts{}); err != nil || !s.ended {
		t.Errorf("it continues with other data: %t, %v", !s.ended, err)
	}
}

// TestDataHasAnotherWriter: the status that this controller writes has neither the data nor its condition.
func TestDataHasAnotherWriter(t *testing.T) {
	t.Parallel()
	f, c := runsWithData(t)
	condition := metav1.Condition{
		Type: v1alpha.ConditionDataCurrent, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonNewestData, LastTransitionTime: metav1.Now(),
	}
	write := func(fields map[string]any) {
		t.Helper()
		if err := apply.StatusFields(t.Context(), f.Project, "references", f.readWorkload(t), fields); err != nil {
			t.Fatal(err)
		}
	}
	write(map[string]any{"data": f.readWorkload(t).Status.Data, "conditions": []metav1.Condition{condition}})
	f.rolls(t, func(r *v1alpha.WorkloadRollout) { r.OnFailure = v1alpha.RolloutUndo })
	f.image(t, "registry.example/app:2")
	c.settle(t)
	if status := f.readWorkload(t).Status; status.Data == nil || meta.FindStatusCondition(status.Conditions, condition.Type) == nil {
		t.Errorf("status is %+v", status)
	}
	write(map[string]any{})
	if status := f.readWorkload(t).Status; status.Data != nil || meta.FindStatusCondition(status.Conditions, condition.Type) != nil {
		t.Errorf("this controller holds %+v, %+v", status.Data, status.Conditions)
	}
}

// TestStatusOfNames: the part of the status that hub/names writes is not changed, and not owned.
func TestStatusOfNames(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, nil)
	const other apply.FieldManager = "karmada-compute-names"
	type part struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
		Hostnames  []string           `json:"hostnames,omitempty"`
	}
	write := func(of part) {
		if err := apply.StatusFields(t.Context(), f.Client, other, f.readWorkload(t), of); err != nil {
			t.Fatal(err)
		}
	}
	write(part{Hostnames: []string{"web.example.com"}, Conditions: []metav1.Condition{{
		Type: v1alpha.ConditionNamesProgrammed, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonNamesProgrammed,
		LastTransitionTime: metav1.Now(),
	}}})
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("the status of names causes %v", writes)
	}
	planes.Change(t, f.Planes, workload, inCities("DFW"))
	f.mustReconcile(t)
	status := f.readWorkload(t).Status
	if len(status.Hostnames) != 1 || meta.FindStatusCondition(status.Conditions, v1alpha.ConditionNamesProgrammed) == nil {
		t.Errorf("the status has lost %v, %v", status.Hostnames, status.Conditions)
	}
	write(part{})
	status = f.readWorkload(t).Status
	if len(status.Hostnames) != 0 || meta.FindStatusCondition(status.Conditions, v1alpha.ConditionNamesProgrammed) != nil {
		t.Errorf("others own %v, %v", status.Hostnames, status.Conditions)
	}
}
