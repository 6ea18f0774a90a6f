// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import corev1 "k8s.io/api/core/v1"

// TemplateAt is the template that a new Instance at an index gets, with what is recorded of its instance type.
func (s *WorkloadDeploymentSpec) TemplateAt(index int) (*InstanceTemplateSpec, corev1.ResourceList) {
	if p := s.Partition; p != nil && index < int(p.Index) {
		return &p.Template, p.InstanceTypeResources
	}
	return &s.Template, s.InstanceTypeResources
}

// Templates are the templates that Instances may have: during a rollout the earlier one as well.
func (s *WorkloadDeploymentSpec) Templates() []*InstanceTemplateSpec {
	if s.Partition == nil {
		return []*InstanceTemplateSpec{&s.Template}
	}
	return []*InstanceTemplateSpec{&s.Template, &s.Partition.Template}
}
