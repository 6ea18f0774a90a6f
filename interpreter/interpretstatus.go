// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"fmt"
	"strconv"
	"strings"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// ReflectedStatus is what Karmada carries from a cell to the hub: the status, and which generations it is about.
type ReflectedStatus struct {
	v1alpha.WorkloadDeploymentStatus `json:",inline"`

	// Generation of the object in the cell.
	Generation int64 `json:"generation"`
	// ResourceTemplateGeneration is the generation of the object on the hub that the cell's was made from.
	ResourceTemplateGeneration int64 `json:"resourceTemplateGeneration"`
}

// What a report may hold. Karmada writes all of it three times for each change, and reads it back in one request of
// at most a MiB.
const (
	// MaxInstances is the most Instances that a deployment may have.
	MaxInstances = 1000
	// MaxMessage is the longest message of a condition, in bytes.
	MaxMessage = 512
)

// InterpretStatus is what of a cell's object goes to the hub, cut to a bounded size.
func InterpretStatus(observed *v1alpha.WorkloadDeployment) (*ReflectedStatus, error) {
	reflected := &ReflectedStatus{WorkloadDeploymentStatus: *observed.Status.DeepCopy(), Generation: observed.Generation}
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
	return reflected, nil
}

// shorten cuts messages that are too long, between two characters.
func shorten(conditions []metav1.Condition) {
	const ellipsis = "…"
	for i := range conditions {
		if message := conditions[i].Message; len(message) > MaxMessage {
			conditions[i].Message = strings.ToValidUTF8(message[:MaxMessage-len(ellipsis)], "") + ellipsis
		}
	}
}
