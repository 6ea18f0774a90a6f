// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"encoding/json"
	"slices"
	"testing"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// ChangeReports plays the cells of a copy, and Karmada: f changes the status that the cells report together. Each cell of
// the assignment reports its part of it in its Work, and the copy gets it as Karmada aggregates it.
func ChangeReports(
	t testing.TB, p *Planes, copied *v1alpha.WorkloadDeployment, f func(*v1alpha.WorkloadDeployment),
) *v1alpha.WorkloadDeployment {
	t.Helper()
	changed := ChangeStatus(t, p, copied, f)
	rest := changed.Status.ReplicaCounts
	cells := slices.DeleteFunc(p.cellsOf(t, changed), func(cell string) bool {
		return len(changed.Status.Indices) > 0 && !slices.ContainsFunc(changed.Status.Indices,
			func(of v1alpha.CellIndices) bool { return of.Cell == cell })
	})
	for i, cell := range cells {
		Ensure(t, p, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ExecutionSpace(cell)}}, func(*corev1.Namespace) {})
		p.CarryOut(t, WorkOf(t, changed, cell), partOf(t, changed, cell, i == 0, &rest))
	}
	return changed
}

// cellsOf are the cells that a copy assigns Instances to; without an assignment the ones that its binding names, or that
// have reported.
func (p *Planes) cellsOf(t testing.TB, copied *v1alpha.WorkloadDeployment) []string {
	t.Helper()
	var names []string
	if copied.Spec.Assignment != nil {
		for i := range copied.Spec.Assignment.Cells {
			names = append(names, copied.Spec.Assignment.Cells[i].Name)
		}
		return names
	}
	binding := &workv1alpha2.ResourceBinding{}
	key := client.ObjectKeyFromObject(BindingOf(copied))
	if err := p.Client.Get(t.Context(), key, binding); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	for i := range binding.Spec.Clusters {
		names = append(names, binding.Spec.Clusters[i].Name)
	}
	if len(names) > 0 {
		return names
	}
	binding = BindingOf(copied)
	for i := range copied.Status.Indices {
		names = append(names, copied.Status.Indices[i].Cell)
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: copied.Status.Indices[i].Cell})
	}
	if len(names) > 0 {
		Ensure(t, p, binding.DeepCopy(), func(b *workv1alpha2.ResourceBinding) { b.Spec.Clusters = binding.Spec.Clusters })
	}
	return names
}

// partOf is the report of one cell: its own entries, and as much of the rest of the counts as it may have. It is nil if
// the status is empty.
func partOf(
	t testing.TB, copied *v1alpha.WorkloadDeployment, cell string, first bool, rest *v1alpha.ReplicaCounts,
) *runtime.RawExtension {
	t.Helper()
	status := &copied.Status
	if len(status.Conditions) == 0 && status.ObservedGeneration == 0 && len(status.Indices) == 0 && status.Replicas == 0 {
		return nil
	}
	part := wire.ReflectedStatus{Generation: 1, ResourceTemplateGeneration: status.ObservedGeneration}
	part.ObservedGeneration = 1
	part.ReplicaCounts = taken(rest, mostOf(copied, cell))
	if first {
		part.Conditions = status.Conditions
	}
	part.Reports = slices.DeleteFunc(slices.Clone(status.Reports), func(r v1alpha.InstanceReport) bool { return r.Cell != cell })
	part.Indices = slices.DeleteFunc(slices.Clone(status.Indices), func(of v1alpha.CellIndices) bool { return of.Cell != cell })
	for i := range part.Conditions {
		if part.Conditions[i].LastTransitionTime.IsZero() {
			part.Conditions[i].LastTransitionTime = metav1.Now()
		}
	}
	raw, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: raw}
}

// mostOf is how many Instances a cell may have.
func mostOf(copied *v1alpha.WorkloadDeployment, cell string) int32 {
	if copied.Spec.Assignment == nil || copied.Spec.ScaleSettings.Zero() {
		return wire.MaxInstances
	}
	most := len(naming.Assigned(copied.Spec.Assignment, cell)) + len(naming.Releasing(copied.Spec.Assignment, cell))
	return int32(most) //nolint:gosec // there are at most 1000
}

// taken takes at most so many of each count.
func taken(rest *v1alpha.ReplicaCounts, most int32) v1alpha.ReplicaCounts {
	var part v1alpha.ReplicaCounts
	for _, pair := range [][2]*int32{
		{&part.Replicas, &rest.Replicas},
		{&part.CurrentReplicas, &rest.CurrentReplicas},
		{&part.DesiredReplicas, &rest.DesiredReplicas},
		{&part.ReadyReplicas, &rest.ReadyReplicas},
		{&part.AvailableReplicas, &rest.AvailableReplicas},
	} {
		*pair[0] = min(*pair[1], most)
		*pair[1] -= *pair[0]
	}
	return part
}
