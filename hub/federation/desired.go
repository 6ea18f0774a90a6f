// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

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

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// executionFinalizer holds a Work until Karmada has taken what it carries out of the cell. Karmada honours it on any
// Work and sets it only on its own.
const executionFinalizer = "karmada.io/execution-controller"

// labelManagedByKarmada is on everything that Karmada put into a cell; it deletes nothing there that lacks it. Karmada
// sets it on what its own controllers wrap into a Work, and not on Works made by others.
const labelManagedByKarmada = "karmada.io/managed"

// provenance are the labels that say where a hub object comes from.
func (p *pass) provenance() map[string]string {
	return map[string]string{
		v1alpha.LabelProject:          v1alpha.ProjectLabel(p.projectName),
		v1alpha.LabelProjectNamespace: p.deployment.Namespace,
		v1alpha.LabelProjectUID:       string(p.projectUID),
	}
}

func (p *pass) desiredCopy() *v1alpha.WorkloadDeployment {
	labels := p.provenance()
	for _, key := range []string{v1alpha.LabelWorkloadUID, v1alpha.LabelWorkloadName, v1alpha.LabelPlacementName} {
		labels[key] = p.deployment.Labels[key]
	}
	labels[v1alpha.LabelDeploymentUID] = string(p.deployment.UID)
	labels[v1alpha.LabelTopologyCity] = v1alpha.CityLabel(p.deployment.Spec.CityCode)
	return &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      p.deployment.Name,
			Namespace: p.hubNamespace,
			Labels:    labels,
			Annotations: map[string]string{
				v1alpha.AnnotationProjectName:       p.projectName,
				v1alpha.AnnotationProjectGeneration: strconv.FormatInt(p.deployment.Generation, 10),
			},
		},
		Spec: *p.deployment.Spec.DeepCopy(),
	}
}

// desiredNamespace is the hub namespace. Karmada copies a hub namespace into every cluster unless it is told not to.
func (p *pass) desiredNamespace() *corev1.Namespace {
	labels := p.provenance()
	labels[policyv1alpha1.NamespaceSkipAutoPropagationLabel] = "true"
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: p.hubNamespace, Labels: labels,
		Annotations: map[string]string{v1alpha.AnnotationProjectName: p.projectName},
	}}
}

// desiredNamespaceWork carries the hub namespace into one cell and goes with the hub namespace. It is named as Karmada
// names its own Works, and the manifest names it: Karmada makes a namespace that vanished from a cell again only when it
// finds the Work by both. A namespace vanishes that was still being deleted when the next Workload came.
func (p *pass) desiredNamespaceWork(namespace *corev1.Namespace, cell string) (*workv1alpha1.Work, error) {
	labels := p.provenance()
	name, space := karmadanames.GenerateWorkName("Namespace", namespace.Name, ""), karmadanames.GenerateExecutionSpaceName(cell)
	manifest := &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: namespace.Name, Labels: maps.Clone(labels), Annotations: map[string]string{
			workv1alpha2.WorkNamespaceAnnotation: space, workv1alpha2.WorkNameAnnotation: name,
		}},
	}
	manifest.Labels[labelManagedByKarmada] = "true"
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("encode the namespace for cell %s: %w", cell, err)
	}
	labels[v1alpha.LabelHubNamespace] = namespace.Name
	labels[v1alpha.LabelTopologyCity] = v1alpha.CityLabel(p.deployment.Spec.CityCode)
	return &workv1alpha1.Work{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   space,
			Labels:      labels,
			Annotations: map[string]string{v1alpha.AnnotationProjectName: p.projectName},
			Finalizers:  []string{executionFinalizer},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID,
			}},
		},
		Spec: workv1alpha1.WorkSpec{Workload: workv1alpha1.WorkloadTemplate{
			Manifests: []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}},
		}},
	}, nil
}
