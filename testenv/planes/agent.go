// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// SetReport sets the report of a cell's agent on these Instances in the status of a copy, as the interpreter aggregates
// it. The conditions, the counts, and the reports of other cells stay.
func SetReport(t testing.TB, copied *v1alpha.WorkloadDeployment, cell string, instances ...wire.Instance) {
	t.Helper()
	var inCell []v1alpha.Instance
	for i := range instances {
		inCell = append(inCell, instanceOf(&instances[i]))
	}
	made, err := rollup.Report(copied, inCell, nil, metav1.Now().Time)
	if err != nil {
		t.Fatal(err)
	}
	status := &copied.Status
	status.Reports = slices.DeleteFunc(status.Reports, func(r v1alpha.InstanceReport) bool { return r.Cell == cell })
	for _, report := range made.Status.Reports {
		report.Cell = cell
		status.Reports = append(status.Reports, report)
	}
	status.Indices = slices.DeleteFunc(status.Indices, func(of v1alpha.CellIndices) bool { return of.Cell == cell })
	for _, indices := range made.Status.Indices {
		indices.Cell = cell
		status.Indices = append(status.Indices, indices)
	}
}

// instanceOf returns the Instance of a cell's report.
func instanceOf(reported *wire.Instance) v1alpha.Instance {
	instance := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: reported.Name}}
	instance.Spec.Controller = &v1alpha.InstanceController{TemplateHash: reported.TemplateHash, SchedulingGates: reported.SchedulingGates}
	instance.Status = v1alpha.InstanceStatus{
		Conditions: reported.Conditions, NetworkInterfaces: reported.NetworkInterfaces,
		Controller: &v1alpha.InstanceControllerStatus{ObservedTemplateHash: reported.ObservedTemplateHash},
	}
	return instance
}
