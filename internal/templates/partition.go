// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// WithHash returns the template of a deployment that has a hash, with the recorded resources of its instance type; nil:
// no template has it.
func WithHash(s *v1alpha.WorkloadDeploymentSpec, wanted string) (*v1alpha.InstanceTemplateSpec, corev1.ResourceList) {
	if v, err := VersionOf(&s.Template); err == nil && v.Is(wanted) {
		return &s.Template, s.InstanceTypeResources
	}
	if s.Partition == nil {
		return nil, nil
	}
	if v, err := VersionOf(&s.Partition.Template); err == nil && v.Is(wanted) {
		return &s.Partition.Template, s.Partition.InstanceTypeResources
	}
	return nil, nil
}
