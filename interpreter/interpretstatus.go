// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"fmt"
	"strconv"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// ReflectedStatus is what Karmada copies from a cell to the hub: the status, and the generations that it is about.
type ReflectedStatus struct {
	v1alpha.WorkloadDeploymentStatus `json:",inline"`

	// Generation of the object in the cell.
	Generation int64 `json:"generation"`
	// ResourceTemplateGeneration is the generation of the object on the hub from which Karmada wrote the object in the cell.
	ResourceTemplateGeneration int64 `json:"resourceTemplateGeneration"`
}

// MaxInstances is the most Instances that a report may have. Karmada writes all of it three times for each change, and reads it
// back in one request of at most a MiB.
const MaxInstances = 1000

// InterpretStatus is the part of the object in a cell that is copied to the hub, truncated to a bounded size. It fails when
// Karmada's annotation with the generation is invalid.
func InterpretStatus(observed *v1alpha.WorkloadDeployment) (*ReflectedStatus, error) {
	reflected := &ReflectedStatus{WorkloadDeploymentStatus: *observed.Status.DeepCopy(), Generation: observed.Generation}
	// Only the autoscaler of the cell reads it.
	reflected.Selector = ""
	// Only projects have it.
	reflected.LastProgressTime = nil
	if text, set := observed.Annotations[workv1alpha2.ResourceTemplateGenerationAnnotationKey]; set {
		generation, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("annotation %s is no generation: %w", workv1alpha2.ResourceTemplateGenerationAnnotationKey, err)
		}
		reflected.ResourceTemplateGeneration = generation
	}
	if len(reflected.Instances) > MaxInstances {
		reflected.Instances = reflected.Instances[:MaxInstances]
	}
	shorten(reflected.Conditions)
	for i := range reflected.Instances {
		shorten(reflected.Instances[i].Conditions)
	}
	reflected.Reports = bounded(reflected.Reports)
	if len(reflected.Indices) > 1 {
		reflected.Indices = reflected.Indices[:1]
	}
	for i := range reflected.Indices {
		reflected.Indices[i].DataMissing = v1alpha.ShortenMessage(reflected.Indices[i].DataMissing, v1alpha.MaxMessage)
	}
	return reflected, nil
}

// bounded is the report of the cell, truncated to a bounded size. A cell has one.
func bounded(reports []v1alpha.InstanceReport) []v1alpha.InstanceReport {
	if len(reports) > 1 {
		reports = reports[:1]
	}
	for i := range reports {
		report := &reports[i]
		if len(report.Instances) > MaxInstances {
			report.Instances = report.Instances[:MaxInstances]
		}
		if len(report.States) > MaxInstances {
			report.States = report.States[:MaxInstances]
		}
		for n := range report.States {
			for c := range report.States[n].Conditions {
				condition := &report.States[n].Conditions[c]
				condition.Message = v1alpha.ShortenMessage(condition.Message, v1alpha.MaxMessage)
			}
		}
	}
	return reports
}

func shorten(conditions []metav1.Condition) {
	for i := range conditions {
		conditions[i].Message = v1alpha.ShortenMessage(conditions[i].Message, v1alpha.MaxMessage)
	}
}
