// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"encoding/json"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/agents"
)

// report is the part of a cell's report that an assignment depends on. The fields are the interpreter's.
type report struct {
	Generation                 int64 `json:"generation,omitempty"`
	ObservedGeneration         int64 `json:"observedGeneration,omitempty"`
	ResourceTemplateGeneration int64 `json:"resourceTemplateGeneration,omitempty"`
	Instances                  []struct {
		Name string `json:"name"`
	} `json:"instances,omitempty"`
}

// Trim is a cache transform that keeps of a ResourceBinding what the controllers read. Whole ones would hold the status of
// every deployment in memory a second time.
func Trim(object any) (any, error) {
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
	if client.ObjectKeyFromObject(binding) == agents.Binding {
		trimmed.Status.AggregatedStatus = binding.Status.AggregatedStatus
		return trimmed, nil
	}
	if !isOfDeployment(binding) {
		trimmed.Spec = workv1alpha2.ResourceBindingSpec{}
		return trimmed, nil
	}
	trimmed.Spec.Resource.ResourceVersion = ""
	for _, condition := range binding.Status.Conditions {
		if condition.Type == workv1alpha2.Scheduled {
			trimmed.Status.Conditions = []metav1.Condition{condition}
		}
	}
	// Where nothing is divided, no cell waits for another to give an index up.
	if isDivided(binding) || len(binding.Status.AggregatedStatus) > 1 {
		trimmed.Status.AggregatedStatus = trimReports(binding.Status.AggregatedStatus)
	}
	return trimmed, nil
}

func isDivided(binding *workv1alpha2.ResourceBinding) bool {
	placement := binding.Spec.Placement
	return placement != nil && placement.ReplicaSchedulingType() == policyv1alpha1.ReplicaSchedulingTypeDivided
}

// trimReports drops a report that cannot be decoded: it confirms nothing.
func trimReports(items []workv1alpha2.AggregatedStatusItem) []workv1alpha2.AggregatedStatusItem {
	var result []workv1alpha2.AggregatedStatusItem
	for i := range items {
		trimmed := workv1alpha2.AggregatedStatusItem{ClusterName: items[i].ClusterName}
		if decoded := decodeReport(&items[i]); decoded != nil {
			// Three numbers and names always encode.
			raw, _ := json.Marshal(decoded)
			trimmed.Status = &runtime.RawExtension{Raw: raw}
		}
		result = append(result, trimmed)
	}
	return result
}

func decodeReport(item *workv1alpha2.AggregatedStatusItem) *report {
	if item.Status == nil || len(item.Status.Raw) == 0 {
		return nil
	}
	decoded := &report{}
	if err := json.Unmarshal(item.Status.Raw, decoded); err != nil {
		return nil
	}
	return decoded
}

// Reports says whether a cell has reported on a deployment. binding may be nil.
func Reports(binding *workv1alpha2.ResourceBinding, cell string) bool {
	return reportOf(binding, cell) != nil
}

// MayRun says whether a cell may still run the Instance at an index that it has lost. It may until it reports that it has
// acted on the newest copy and has no such Instance. binding may be nil.
func MayRun(binding *workv1alpha2.ResourceBinding, copied *v1alpha.WorkloadDeployment, cell string, index int) bool {
	found := reportOf(binding, cell)
	if found == nil || found.ResourceTemplateGeneration != copied.Generation || found.ObservedGeneration != found.Generation {
		return true
	}
	for i := range found.Instances {
		if found.Instances[i].Name == v1alpha.InstanceName(copied.Name, index) {
			return true
		}
	}
	return false
}

func reportOf(binding *workv1alpha2.ResourceBinding, cell string) *report {
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
