// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/origin"
)

// cellReport is what of a cell's report an assignment depends on. The fields are the interpreter's.
type cellReport struct {
	Generation                 int64 `json:"generation,omitempty"`
	ObservedGeneration         int64 `json:"observedGeneration,omitempty"`
	ResourceTemplateGeneration int64 `json:"resourceTemplateGeneration,omitempty"`
	Instances                  []struct {
		Name string `json:"name"`
	} `json:"instances,omitempty"`
}

// TrimBinding leaves of a ResourceBinding what the controllers read: a cache of whole ones would hold the status of every
// deployment a second time. It is a transform for a cache.
func TrimBinding(object any) (any, error) {
	binding, ok := object.(*workv1alpha2.ResourceBinding)
	if !ok {
		return object, nil
	}
	trimmed := &workv1alpha2.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: binding.Namespace, Name: binding.Name, UID: binding.UID, ResourceVersion: binding.ResourceVersion,
		},
		Spec: workv1alpha2.ResourceBindingSpec{Resource: binding.Spec.Resource, Clusters: binding.Spec.Clusters},
	}
	if !origin.BindsDeployment(binding) {
		trimmed.Spec = workv1alpha2.ResourceBindingSpec{}
		return trimmed, nil
	}
	trimmed.Spec.Resource.ResourceVersion = ""
	for _, condition := range binding.Status.Conditions {
		if condition.Type == workv1alpha2.Scheduled {
			trimmed.Status.Conditions = []metav1.Condition{condition}
		}
	}
	// Where nothing is divided, nobody waits for a cell to give an index up.
	if isDivided(binding) || len(binding.Status.AggregatedStatus) > 1 {
		trimmed.Status.AggregatedStatus = trimReports(binding.Status.AggregatedStatus)
	}
	return trimmed, nil
}

func isDivided(binding *workv1alpha2.ResourceBinding) bool {
	placement := binding.Spec.Placement
	return placement != nil && placement.ReplicaSchedulingType() == policyv1alpha1.ReplicaSchedulingTypeDivided
}

// trimReports drops a report that cannot be read: the cell has then confirmed nothing.
func trimReports(items []workv1alpha2.AggregatedStatusItem) []workv1alpha2.AggregatedStatusItem {
	var result []workv1alpha2.AggregatedStatusItem
	for i := range items {
		trimmed := workv1alpha2.AggregatedStatusItem{ClusterName: items[i].ClusterName}
		if report := decodeReport(&items[i]); report != nil {
			// Four numbers and names always encode.
			raw, _ := json.Marshal(report)
			trimmed.Status = &runtime.RawExtension{Raw: raw}
		}
		result = append(result, trimmed)
	}
	return result
}

func decodeReport(item *workv1alpha2.AggregatedStatusItem) *cellReport {
	if item.Status == nil || len(item.Status.Raw) == 0 {
		return nil
	}
	report := &cellReport{}
	if err := json.Unmarshal(item.Status.Raw, report); err != nil {
		return nil
	}
	return report
}

// assignment is the next assignment of a copy. existing is the copy as it is, which may be none yet.
func (p *pass) assignment(ctx context.Context, existing *v1alpha.WorkloadDeployment) (*v1alpha.WorkloadDeploymentAssignment, error) {
	binding, err := origin.Binding(ctx, p.Hub, types.NamespacedName{Namespace: p.hubNamespace, Name: p.deployment.Name})
	if err != nil {
		return nil, err
	}
	shares := p.shares(binding)
	if shares == nil {
		// Nothing is decided: everything stays as it is.
		if existing.Spec.Assignment == nil {
			return &v1alpha.WorkloadDeploymentAssignment{}, nil
		}
		return existing.Spec.Assignment, nil
	}
	return assign(division{
		current: existing.Spec.Assignment, shares: shares, alone: p.alone(existing.Spec.Assignment, shares),
		runs: func(cell string, index int) bool { return p.mayRun(binding, existing, cell, index) },
		gone: func(cell string) bool { return !p.reachable[cell] || reportOf(binding, cell) == nil },
	}), nil
}

// alone says whether the city has one cell, and has had no other that may still run something.
func (p *pass) alone(current *v1alpha.WorkloadDeploymentAssignment, shares map[string]int) bool {
	if len(p.cells) != 1 {
		return false
	}
	others := maps.Clone(shares)
	delete(others, p.cells[0].name)
	if current == nil {
		return len(others) == 0
	}
	return len(others) == 0 && !slices.ContainsFunc(current.Cells, func(c v1alpha.CellAssignment) bool { return c.Name != p.cells[0].name })
}

// shares are how many Instances each cell is to run, or nil when that is not decided. The only cell of a city gets all,
// and nobody has to be asked.
func (p *pass) shares(binding *workv1alpha2.ResourceBinding) map[string]int {
	var scheduled []workv1alpha2.TargetCluster
	if binding != nil {
		scheduled = binding.Spec.Clusters
	}
	if len(p.cells) == 1 {
		only := p.cells[0].name
		if len(scheduled) == 0 || len(scheduled) == 1 && scheduled[0].Name == only {
			return map[string]int{only: p.mostReplicas()}
		}
	}
	if len(scheduled) == 0 {
		return nil
	}
	shares := map[string]int{}
	for _, target := range scheduled {
		shares[target.Name] = int(target.Replicas)
	}
	return shares
}

// mostReplicas is how many Instances an autoscaler in the cell may ask for.
func (p *pass) mostReplicas() int {
	scale := &p.deployment.Spec.ScaleSettings
	if scale.MaxReplicas != nil && len(scale.Metrics) > 0 {
		return int(max(scale.MinReplicas, *scale.MaxReplicas))
	}
	return int(p.deployment.Spec.DesiredReplicas())
}

// mayRun says whether a cell may still run an index that it has lost: until it reports that it knows the newest copy and
// has no such Instance.
func (p *pass) mayRun(binding *workv1alpha2.ResourceBinding, existing *v1alpha.WorkloadDeployment, cell string, index int) bool {
	report := reportOf(binding, cell)
	if report == nil || report.ResourceTemplateGeneration != existing.Generation || report.ObservedGeneration != report.Generation {
		return true
	}
	for i := range report.Instances {
		if report.Instances[i].Name == v1alpha.InstanceName(existing.Name, index) {
			return true
		}
	}
	return false
}

func reportOf(binding *workv1alpha2.ResourceBinding, cell string) *cellReport {
	if binding == nil {
		return nil
	}
	for i := range binding.Status.AggregatedStatus {
		if binding.Status.AggregatedStatus[i].ClusterName == cell {
			return decodeReport(&binding.Status.AggregatedStatus[i])
		}
	}
	return nil
}
