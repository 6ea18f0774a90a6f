// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"fmt"
	"strconv"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// ReflectedStatus is the status that Karmada copies from a cell to the hub, with the generations that it refers to.
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
	// Only projects have these.
	reflected.LastProgressTime, reflected.Suspended, reflected.AssignedReplicas = nil, false, 0
	reflected.ReplicaCounts = withoutProject(reflected.ReplicaCounts)
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
