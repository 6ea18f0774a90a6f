// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/watch"
)

// divided is the placement of every trimmed binding that divides its replicas. All share it.
var divided = &policyv1alpha1.Placement{
	ReplicaScheduling: &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided},
}

// maxTargets is the most cells of a binding that are kept.
const maxTargets = 5000

// TrimBinding is a cache transform that keeps the parts of a ResourceBinding that the controllers read. Whole ones
// would hold the status of every deployment in memory a second time.
func TrimBinding(object any) (any, error) {
	binding, ok := object.(*workv1alpha2.ResourceBinding)
	if !ok {
		return object, nil
	}
	trimmed := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Namespace: binding.Namespace, Name: binding.Name, UID: binding.UID, ResourceVersion: binding.ResourceVersion,
	}}
	switch {
	case len(binding.Spec.Clusters) > maxTargets:
		// More than any federation has cells.
	case binding.Namespace == cells.Binding.Namespace:
		trimmed.DeletionTimestamp = binding.DeletionTimestamp
		trimmed.Spec = workv1alpha2.ResourceBindingSpec{Resource: binding.Spec.Resource, Clusters: binding.Spec.Clusters}
		if binding.Name == cells.Binding.Name {
			trimmed.Status.AggregatedStatus = binding.Status.AggregatedStatus
		}
	case !naming.IsHubNamespace(binding.Namespace):
		// No controller believes its writer.
	case isOf(binding, v1alpha.KindWorkloadDeployment):
		trimOurs(binding, trimmed)
	case isOf(binding, v1alpha.KindInstanceSlice):
		trimSlice(binding, trimmed)
	case IsOfData(binding):
		trimmed.DeletionTimestamp, trimmed.Spec.Resource = binding.DeletionTimestamp, binding.Spec.Resource
	}
	return trimmed, nil
}

// TrimClusterBinding is TrimBinding of a ClusterResourceBinding: the ones of the agents' objects are read.
func TrimClusterBinding(object any) (any, error) {
	binding, ok := object.(*workv1alpha2.ClusterResourceBinding)
	if !ok {
		return object, nil
	}
	trimmed := &workv1alpha2.ClusterResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Name: binding.Name, UID: binding.UID, ResourceVersion: binding.ResourceVersion, DeletionTimestamp: binding.DeletionTimestamp,
	}}
	if cells.IsClusterBinding(binding.Name) && len(binding.Spec.Clusters) <= maxTargets {
		trimmed.Spec = workv1alpha2.ResourceBindingSpec{Resource: binding.Spec.Resource, Clusters: binding.Spec.Clusters}
	}
	return trimmed, nil
}

// trimOurs keeps the target cells and the owner in the binding of a WorkloadDeployment.
func trimOurs(binding, trimmed *workv1alpha2.ResourceBinding) {
	trimOwner(binding, trimmed)
	trimmed.Spec = workv1alpha2.ResourceBindingSpec{Resource: binding.Spec.Resource, Clusters: binding.Spec.Clusters}
	trimmed.Spec.Resource.ResourceVersion = ""
	for i := range binding.Spec.GracefulEvictionTasks {
		trimmed.Spec.GracefulEvictionTasks = append(trimmed.Spec.GracefulEvictionTasks,
			workv1alpha2.GracefulEvictionTask{FromCluster: binding.Spec.GracefulEvictionTasks[i].FromCluster})
	}
	if IsDivided(binding) {
		trimmed.Spec.Placement = divided
	}
	for _, condition := range binding.Status.Conditions {
		if condition.Type == workv1alpha2.Scheduled {
			trimmed.Status.Conditions = []metav1.Condition{condition}
		}
	}
	trimmed.Status.SchedulerObservedAffinityName = binding.Status.SchedulerObservedAffinityName
}

// trimOwner keeps the owner of a binding, and the time of its deletion.
func trimOwner(binding, trimmed *workv1alpha2.ResourceBinding) {
	trimmed.DeletionTimestamp = binding.DeletionTimestamp
	if owner := metav1.GetControllerOfNoCopy(binding); owner != nil {
		trimmed.OwnerReferences = []metav1.OwnerReference{{UID: owner.UID, Controller: owner.Controller}}
	}
}

// IsDivided reports whether the replicas of a binding, trimmed or not, are divided among several cells.
func IsDivided(binding *workv1alpha2.ResourceBinding) bool {
	placement := binding.Spec.Placement
	return placement != nil && placement.ReplicaSchedulingType() == policyv1alpha1.ReplicaSchedulingTypeDivided
}

// TrimCopy is a cache transform that drops the status of a copy: the reports in the Works are read instead of what Karmada
// has aggregated of them.
func TrimCopy(object any) (any, error) {
	copied, ok := object.(*v1alpha.WorkloadDeployment)
	if !ok {
		return object, nil
	}
	if !naming.IsHubNamespace(copied.Namespace) {
		return watch.Identity(copied, &v1alpha.WorkloadDeployment{}), nil
	}
	watch.BoundMetadata(copied)
	copied.Status = v1alpha.WorkloadDeploymentStatus{}
	return copied, nil
}
