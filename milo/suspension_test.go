// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func suspendedProject(name string, status metav1.ConditionStatus) *Project {
	project := readyProject(name, "1")
	project.Status.Conditions = append(project.Status.Conditions, metav1.Condition{Type: ConditionSuspended, Status: status})
	return project
}

// TestSuspension: handlers are called once for each change, and a deleted project is not suspended.
func TestSuspension(t *testing.T) {
	p := newTestProvider(t)
	var told []string
	p.OnSuspension(func(project string) { told = append(told, project) })
	for _, step := range []struct {
		status metav1.ConditionStatus
		want   bool
		told   int
	}{
		{metav1.ConditionFalse, false, 0},
		{metav1.ConditionTrue, true, 1},
		{metav1.ConditionTrue, true, 1},
		{metav1.ConditionUnknown, false, 2},
		{metav1.ConditionTrue, true, 3},
	} {
		p.Observe(suspendedProject("north", step.status))
		if p.IsSuspended("north") != step.want || len(told) != step.told {
			t.Errorf("with Suspended=%s it is suspended: %t, told of %v", step.status, p.IsSuspended("north"), told)
		}
	}
	if p.IsSuspended("south") || slices.Contains(told, "south") {
		t.Error("another project is suspended")
	}
	p.Forget(readyProject("north", "1"))
	if p.IsSuspended("north") {
		t.Error("a project that is gone is suspended")
	}
}

// TestASuspendedProjectIsEngaged: a suspended project is engaged even if it is not Ready, since its Instances must be
// stopped.
func TestASuspendedProjectIsEngaged(t *testing.T) {
	p := newTestProvider(t)
	p.own(t.Context(), naming.ProjectKey("north").Shard(4))
	project := suspendedProject("north", metav1.ConditionTrue)
	project.Status.Conditions[0].Status = metav1.ConditionFalse
	p.Observe(project)
	eventually(t, "engaged", func() bool { return isEngaged(p, "north") })
}
