// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cell is the name of the cell that has this deployment, from Karmada's annotation. It is "" for a deployment that
// Karmada did not create.
func (d *WorkloadDeployment) Cell() string {
	cell, found := strings.CutPrefix(d.Annotations[AnnotationWorkNamespace], executionSpacePrefix)
	if !found {
		return ""
	}
	return cell
}

// Owner is the cell that an index is assigned to, or "" if the index is not assigned.
func (a *WorkloadDeploymentAssignment) Owner(index int) string {
	return a.find(index, func(c *CellAssignment) []IndexRange { return c.Indices })
}

// Releaser is the cell that has an index to release, or "" without one.
func (a *WorkloadDeploymentAssignment) Releaser(index int) string {
	return a.find(index, func(c *CellAssignment) []IndexRange { return c.Releasing })
}

func (a *WorkloadDeploymentAssignment) find(index int, ranges func(*CellAssignment) []IndexRange) string {
	for i := range a.Cells {
		for _, r := range ranges(&a.Cells[i]) {
			if index >= int(r.First) && index <= int(r.Last) {
				return a.Cells[i].Name
			}
		}
	}
	return ""
}

// IsLeaving reports whether the cell no longer runs an Instance and has not released all of its indices.
func (c *CellAssignment) IsLeaving() bool {
	return len(c.Indices) == 0 && len(c.Releasing) > 0 && c.LeavingSince != nil
}

// Leaving is the departure of a deployment from a cell that IsLeaving.
func (d *WorkloadDeployment) Leaving(cell *CellAssignment) LeavingDeployment {
	return LeavingDeployment{Namespace: d.Namespace, Name: d.Name, Since: cell.LeavingSince.UTC().Format(metav1.RFC3339Micro)}
}

// Names reports whether the assignment has an entry for a cell.
func (a *WorkloadDeploymentAssignment) Names(cell string) bool {
	return slices.ContainsFunc(a.Cells, func(c CellAssignment) bool { return c.Name == cell })
}

// DefaultMinReady is how long an Instance without readiness probes must be Ready before it is Available. Its Pod is
// ready as soon as its containers run: a process that ends within this time never counts as available.
const DefaultMinReady = 10 * time.Second

// MinReady is how long an Instance with this spec must be Ready before it is Available: minReadySeconds if it is set,
// and otherwise 0 if a container has a readiness probe, and DefaultMinReady if none has one.
func (s *WorkloadDeploymentSpec) MinReady(instance *InstanceSpec) time.Duration {
	switch {
	case s.MinReadySeconds != nil:
		return time.Duration(max(*s.MinReadySeconds, 0)) * time.Second
	case instance.probed():
		return 0
	default:
		return DefaultMinReady
	}
}

// probed reports whether a container has a readiness probe.
func (s *InstanceSpec) probed() bool {
	return slices.ContainsFunc(s.Runtime.Sandbox.AllContainers(), func(c *SandboxContainer) bool { return c.ReadinessProbe != nil })
}

// TemplateAt is the template that a new Instance at an index gets, with what is recorded of its instance type.
func (s *WorkloadDeploymentSpec) TemplateAt(index int) (*InstanceTemplateSpec, corev1.ResourceList) {
	if p := s.Partition; p.Keeps(index) {
		return &p.Template, p.InstanceTypeResources
	}
	return &s.Template, s.InstanceTypeResources
}

// Keeps reports whether the Instance at an index keeps the earlier template. p may be nil: no Instance does.
func (p *WorkloadDeploymentPartition) Keeps(index int) bool {
	switch {
	case p == nil:
		return false
	case index < int(p.Index) || len(p.Indices) == 0:
		return index < int(p.Index)
	}
	return !slices.ContainsFunc(p.Indices, func(r IndexRange) bool { return index >= int(r.First) && index <= int(r.Last) })
}

// Templates are the templates that Instances may have: during a rollout the earlier one as well.
func (s *WorkloadDeploymentSpec) Templates() []*InstanceTemplateSpec {
	if s.Partition == nil {
		return []*InstanceTemplateSpec{&s.Template}
	}
	return []*InstanceTemplateSpec{&s.Template, &s.Partition.Template}
}

// DesiredReplicas is how many Instances should exist: the replicas that an autoscaler has set, clamped to minReplicas
// and maxReplicas, else minReplicas.
func (s *WorkloadDeploymentSpec) DesiredReplicas() int32 {
	least := s.ScaleSettings.MinReplicas
	if s.Replicas == nil {
		return least
	}
	most := least
	if s.ScaleSettings.MaxReplicas != nil {
		most = *s.ScaleSettings.MaxReplicas
	}
	return max(least, min(most, *s.Replicas))
}

// StatedReplicas is the number of Instances in the spec, which Karmada divides among the cells of a city.
func (s *WorkloadDeploymentSpec) StatedReplicas() int32 {
	if s.Replicas != nil {
		return *s.Replicas
	}
	return s.ScaleSettings.MinReplicas
}

// Autoscaled reports whether an autoscaler in the cell decides how many Instances run.
func (s *WorkloadDeploymentSpec) Autoscaled() bool {
	scale := &s.ScaleSettings
	return scale.MaxReplicas != nil && *scale.MaxReplicas > scale.MinReplicas &&
		slices.ContainsFunc(scale.Metrics, func(m MetricSpec) bool { return m.Resource.PerInstance() })
}

// Fits reports whether an Instance of this size may start where quota is granted for one of that size.
func (s QuotaSize) Fits(granted QuotaSize) bool {
	return s.VCPUs <= granted.VCPUs && s.Memory <= granted.Memory
}
