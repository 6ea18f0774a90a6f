// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	"slices"
	"time"
)

// DefaultMinReady is how long an Instance without readiness probes must be Ready before it is Available. Its Pod is ready as soon as
// its containers run: a process that ends within this time never counts as available.
const DefaultMinReady = 10 * time.Second

// MinReady is how long an Instance with this spec must be Ready before it is Available: minReadySeconds if it is set, and otherwise 0
// if a container has a readiness probe, and DefaultMinReady if none has one.
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
