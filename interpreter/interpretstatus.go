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
	bound(&reflected.WorkloadDeploymentStatus)
	return reflected, nil
}

// MaxConditions is the most conditions that an object or a state of Instances may have in a report.
const MaxConditions = 32

// bound truncates what a cell reports to a bounded size. A cell has one report. AggregateStatus bounds it again: where Karmada's agent
// runs in the cell, nobody else has.
func bound(status *v1alpha.WorkloadDeploymentStatus) {
	status.Conditions = first(status.Conditions, MaxConditions)
	shorten(status.Conditions)
	status.Instances = first(status.Instances, MaxInstances)
	for i := range status.Instances {
		status.Instances[i].Conditions = first(status.Instances[i].Conditions, MaxConditions)
		shorten(status.Instances[i].Conditions)
	}
	status.Reports = first(status.Reports, 1)
	for i := range status.Reports {
		boundReport(&status.Reports[i])
	}
	status.Indices = first(status.Indices, 1)
	for i := range status.Indices {
		status.Indices[i].DataMissing = v1alpha.ShortenMessage(status.Indices[i].DataMissing, v1alpha.MaxMessage)
	}
}

func boundReport(report *v1alpha.InstanceReport) {
	report.Instances, report.States = first(report.Instances, MaxInstances), first(report.States, MaxInstances)
	for n := range report.States {
		state := &report.States[n]
		state.Conditions = first(state.Conditions, MaxConditions)
		for c := range state.Conditions {
			state.Conditions[c].Message = v1alpha.ShortenMessage(state.Conditions[c].Message, v1alpha.MaxMessage)
		}
	}
}

// first are the first entries of a list, at most so many.
func first[T any](entries []T, most int) []T { return entries[:min(len(entries), most)] }

func shorten(conditions []metav1.Condition) {
	for i := range conditions {
		conditions[i].Message = v1alpha.ShortenMessage(conditions[i].Message, v1alpha.MaxMessage)
	}
}
