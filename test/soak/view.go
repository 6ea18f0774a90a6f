// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// View holds the objects of one namespace of a project on all planes, read at about the same time.
type View struct {
	Project string
	// Cities holds the cells of each city, by its code in upper case.
	Cities map[string][]string

	// In the project.
	Workloads   []v1alpha.Workload
	Deployments []v1alpha.WorkloadDeployment
	Instances   []v1alpha.Instance

	// On the hub. Namespace is nil if it does not exist. Works are the Works that carry the namespace or its objects, by
	// cell.
	Namespace *corev1.Namespace
	Copies    []v1alpha.WorkloadDeployment
	Policies  []policyv1alpha1.PropagationPolicy
	Bindings  []workv1alpha2.ResourceBinding
	Works     map[string][]Work

	// Cells by name.
	Cells map[string]*CellView
}

// CellView holds the objects of the hub namespace in a cell. Namespace is nil if it does not exist.
type CellView struct {
	Namespace   *corev1.Namespace
	Deployments []v1alpha.WorkloadDeployment
	Instances   []v1alpha.Instance
	Pods        []corev1.Pod
}

// Work is a Work with its object.
type Work struct {
	workv1alpha1.Work
	// Deployment is nil unless the Work carries a WorkloadDeployment.
	Deployment *v1alpha.WorkloadDeployment
	// Carries is the kind and name of its object.
	Carries string
}

// carriesData reports whether a Work carries a kind that templates may name.
func (w *Work) carriesData() bool {
	return strings.HasPrefix(w.Carries, "ConfigMap ") || strings.HasPrefix(w.Carries, "Secret ")
}

// readWork returns the object that a Work carries for a hub namespace, or nil if it carries another object. The add-on
// and Karmada put one object into each Work.
func readWork(work *workv1alpha1.Work, hubNamespace string) (*Work, error) {
	for i := range work.Spec.Workload.Manifests {
		raw := work.Spec.Workload.Manifests[i].Raw
		var head metav1.PartialObjectMetadata
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, fmt.Errorf("read Work %s/%s: %w", work.Namespace, work.Name, err)
		}
		isNamespace := head.Kind == "Namespace" && head.Name == hubNamespace
		if head.Namespace != hubNamespace && !isNamespace {
			continue
		}
		result := &Work{Work: *work, Carries: head.Kind + " " + head.Name}
		if head.Kind == v1alpha.KindWorkloadDeployment {
			deployment, err := wire.WorkloadDeployment(raw)
			if err != nil {
				return nil, fmt.Errorf("read Work %s/%s: %w", work.Namespace, work.Name, err)
			}
			result.Deployment = deployment
		}
		return result, nil
	}
	return nil, nil
}

// cells returns the names of all cells, in order.
func (v *View) cells() []string {
	return slices.Sorted(maps.Keys(v.Cells))
}

// byName indexes objects.
func byName[T any, P interface {
	*T
	client.Object
}](objects []T) map[string]P {
	index := make(map[string]P, len(objects))
	for i := range objects {
		object := P(&objects[i])
		index[object.GetName()] = object
	}
	return index
}
