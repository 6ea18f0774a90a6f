// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "slices"

// InterfaceName is the name of the network interface of an Instance, and the default of InstanceNetworkInterface.Name.
const InterfaceName = "eth0"

// TemplateHash is the hash of the template that the Instance was created from, or "" when it has none.
func (i *Instance) TemplateHash() string {
	if i.Spec.Controller == nil {
		return ""
	}
	return i.Spec.Controller.TemplateHash
}

// SchedulingGates are the gates that must be lifted before the Instance starts.
func (i *Instance) SchedulingGates() []SchedulingGate {
	if i.Spec.Controller == nil {
		return nil
	}
	return i.Spec.Controller.SchedulingGates
}

// AllContainers are the containers of a sandbox, then its init containers. s may be nil.
func (s *SandboxRuntime) AllContainers() []*SandboxContainer {
	if s == nil {
		return nil
	}
	all := make([]*SandboxContainer, 0, len(s.Containers)+len(s.InitContainers))
	for i := range s.Containers {
		all = append(all, &s.Containers[i])
	}
	for i := range s.InitContainers {
		all = append(all, &s.InitContainers[i])
	}
	return all
}

// Running are the containers of a sandbox and its sidecars: the containers that run until the Instance stops. s may be
// nil.
func (s *SandboxRuntime) Running() []*SandboxContainer {
	all := s.AllContainers()
	if s == nil {
		return all
	}
	running := slices.Clip(all[:len(s.Containers)])
	for _, container := range all[len(s.Containers):] {
		if container.IsSidecar() {
			running = append(running, container)
		}
	}
	return running
}
