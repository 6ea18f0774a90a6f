// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

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
