// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// desiredCopy returns the copy on the hub with this UID.
func (s *scope) desiredCopy(hub types.UID) *v1alpha.WorkloadDeployment {
	labels, annotations := s.origin.Labels(), s.origin.Annotations()
	for _, key := range []string{v1alpha.LabelWorkloadUID, v1alpha.LabelWorkloadName, v1alpha.LabelPlacementName} {
		labels[key] = s.deployment.Labels[key]
	}
	labels[v1alpha.LabelDeploymentUID] = string(s.deployment.UID)
	labels[v1alpha.LabelHub] = string(hub)
	labels[v1alpha.LabelTopologyCity] = naming.CityLabel(s.deployment.Spec.CityCode)
	annotations[v1alpha.AnnotationProjectGeneration] = strconv.FormatInt(s.deployment.Generation, 10)
	copied := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: s.deployment.Name, Namespace: s.hubNamespace, Labels: labels, Annotations: annotations},
		Spec:       *s.deployment.Spec.DeepCopy(),
	}
	if s.adopted != "" {
		labels[v1alpha.LabelWorkloadUID], copied.Spec.WorkloadRef.UID = string(s.adopted), s.adopted
		annotations[v1alpha.AnnotationWorkloadUID] = string(s.deployment.Spec.WorkloadRef.UID)
	}
	// The quota in the original is ignored.
	copied.Spec.Quota = nil
	// Progress is judged in the project: a change of its deadline is not propagated to the cells.
	copied.Spec.Rollout = copied.Spec.Rollout.ForCells()
	addSurge(copied)
	return copied
}

// addSurge lets the cells run the additional Instances of a rollout. Karmada still divides the desired ones, so that no
// Instance moves: the assignment adds the others.
func addSurge(copied *v1alpha.WorkloadDeployment) {
	if surge := copied.Spec.Surge; surge > 0 && !copied.Spec.Autoscaled() {
		copied.Spec.Replicas = new(copied.Spec.ScaleSettings.MinReplicas)
		copied.Spec.ScaleSettings.MinReplicas += surge
	}
	copied.Spec.Surge = 0
}

// desiredNamespace is the hub namespace. Karmada copies a hub namespace into every cluster unless a label excludes it.
func (s *scope) desiredNamespace() *corev1.Namespace {
	labels := s.origin.Labels()
	labels[policyv1alpha1.NamespaceSkipAutoPropagationLabel] = "true"
	labels[v1alpha.LabelProjectNamespaceUID] = string(s.namespaceUID)
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.hubNamespace, Labels: labels, Annotations: s.origin.Annotations()}}
}

// desiredNamespaceWork returns the Work that carries the hub namespace into one cell and is deleted with the hub
// namespace. It has the name that Karmada would give it, and the manifest is annotated with it: only then does Karmada
// restore a namespace that is deleted in the cell. That happens if the namespace is still being deleted there while the
// next Workload arrives.
func (s *scope) desiredNamespaceWork(cell string, hub types.UID) (*workv1alpha1.Work, error) {
	labels, annotations := s.origin.Labels(), s.origin.Annotations()
	name, space := karmadanames.GenerateWorkName("Namespace", s.hubNamespace, ""), karmadanames.GenerateExecutionSpaceName(cell)
	manifest := &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: s.hubNamespace},
	}
	// The labels are on the Work as well, where a difference is detected: Works of an earlier version get them.
	labels[projects.LabelPodSecurity], labels[v1alpha.LabelHub] = projects.PodSecurity, string(hub)
	manifest.Labels, manifest.Annotations = maps.Clone(labels), maps.Clone(annotations)
	manifest.Labels[cells.LabelManagedByKarmada] = "true"
	manifest.Annotations[workv1alpha2.WorkNamespaceAnnotation], manifest.Annotations[workv1alpha2.WorkNameAnnotation] = space, name
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("encode the namespace for cell %s: %w", cell, err)
	}
	labels[v1alpha.LabelHubNamespace] = s.hubNamespace
	labels[v1alpha.LabelTopologyCity] = naming.CityLabel(s.deployment.Spec.CityCode)
	return &workv1alpha1.Work{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			Namespace:       space,
			Labels:          labels,
			Annotations:     annotations,
			Finalizers:      []string{cells.ExecutionFinalizer},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: s.hubNamespace, UID: s.hubNamespaceUID}},
		},
		Spec: workv1alpha1.WorkSpec{
			// It takes over a Work of the inventory that removes an earlier namespace of the name.
			SuspendDispatching: new(false),
			Workload: workv1alpha1.WorkloadTemplate{
				Manifests: []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}},
			},
		},
	}, nil
}
