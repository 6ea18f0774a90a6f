// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"maps"
	"slices"
	"strings"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const (
	// maxAddress is the longest endpoint, name of a Secret or message that is kept.
	maxAddress = 1 << 10
	// maxResources is the most resources of a cell whose capacity is kept.
	maxResources = 64
)

// read are the conditions of Clusters that controllers read or write.
var read = []string{
	clusterv1alpha1.ClusterConditionReady, clusterv1alpha1.ClusterConditionCompleteAPIEnablements,
	v1alpha.ConditionComputeAgentReady, v1alpha.ConditionComputeNodesSchedulable, v1alpha.ConditionComputeCityConfirmed,
	v1alpha.ConditionComputeAccessRestricted, v1alpha.ConditionComputeForgotten,
}

// TrimCluster is a cache transform that keeps of a Cluster what controllers read. Agents of cells write Clusters, of any
// size. A trimmed Cluster must not be written: conditions reads it from the API server.
func TrimCluster(object any) (any, error) {
	cluster, ok := object.(*clusterv1alpha1.Cluster)
	if !ok {
		return object, nil
	}
	trimmed := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Name: cluster.Name, UID: cluster.UID, ResourceVersion: cluster.ResourceVersion, Generation: cluster.Generation,
		CreationTimestamp: cluster.CreationTimestamp, DeletionTimestamp: cluster.DeletionTimestamp,
	}}
	if city, labelled := cluster.Labels[v1alpha.LabelTopologyCity]; labelled {
		trimmed.Labels = map[string]string{v1alpha.LabelTopologyCity: city}
	}
	spec := &trimmed.Spec
	spec.SyncMode, spec.APIEndpoint = cluster.Spec.SyncMode, shortened(cluster.Spec.APIEndpoint)
	spec.SecretRef, spec.ImpersonatorSecretRef = trimSecret(cluster.Spec.SecretRef), trimSecret(cluster.Spec.ImpersonatorSecretRef)
	if at := slices.IndexFunc(cluster.Spec.Taints, refuses); at >= 0 {
		spec.Taints = []corev1.Taint{{Effect: cluster.Spec.Taints[at].Effect}}
	}
	for _, condition := range cluster.Status.Conditions {
		if slices.Contains(read, condition.Type) {
			condition.Message = strings.Clone(reasons.Shorten(condition.Message, maxAddress))
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, condition)
			trimmed.Status.Conditions = trimmed.Status.Conditions[:min(len(trimmed.Status.Conditions), 2*len(read))]
		}
	}
	for _, api := range cluster.Status.APIEnablements {
		// One other proves that the list is not empty.
		if own := api.GroupVersion == v1alpha.GroupVersion.String(); own || len(trimmed.Status.APIEnablements) == 0 {
			enablement := clusterv1alpha1.APIEnablement{GroupVersion: shortened(api.GroupVersion)}
			trimmed.Status.APIEnablements = append(trimmed.Status.APIEnablements[:min(len(trimmed.Status.APIEnablements), 1)], enablement)
		}
	}
	if summary := cluster.Status.ResourceSummary; summary != nil {
		trimmed.Status.ResourceSummary = &clusterv1alpha1.ResourceSummary{
			Allocatable: trimResources(summary.Allocatable), Allocated: trimResources(summary.Allocated),
			Allocating: trimResources(summary.Allocating),
		}
	}
	return trimmed, nil
}

// refuses reports whether Karmada schedules nothing new to a cell with a taint.
func refuses(taint corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

// shortened copies: a part of a text would keep the whole in memory.
func shortened(text string) string { return strings.Clone(text[:min(len(text), maxAddress)]) }

func trimSecret(ref *clusterv1alpha1.LocalSecretReference) *clusterv1alpha1.LocalSecretReference {
	if ref == nil {
		return nil
	}
	return &clusterv1alpha1.LocalSecretReference{Namespace: shortened(ref.Namespace), Name: shortened(ref.Name)}
}

func trimResources(list corev1.ResourceList) corev1.ResourceList {
	if len(list) <= maxResources {
		return list
	}
	kept := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(list))[:maxResources] {
		kept[name] = list[name]
	}
	return kept
}
