// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// diskType is the one type of disk that there is.
	diskType = "pd-standard"
	// dataMode is what core/v1 gives the files of ConfigMaps and Secrets.
	dataMode int32 = 0o644
)

// Default writes down what a Workload means where it says nothing, and changes nothing that it says: clients compare
// what they wrote. To do it again changes nothing.
func Default(workload *v1alpha.Workload) {
	for i := range workload.Spec.Placements {
		scale := &workload.Spec.Placements[i].ScaleSettings
		if scale.InstanceManagementPolicy == "" {
			scale.InstanceManagementPolicy = v1alpha.OrderedReady
		}
	}
	spec := &workload.Spec.Template.Spec
	if sandbox := spec.Runtime.Sandbox; sandbox != nil {
		for i := range sandbox.Containers {
			defaultPorts(sandbox.Containers[i].Ports)
		}
	}
	if machine := spec.Runtime.VirtualMachine; machine != nil {
		defaultPorts(machine.Ports)
	}
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i])
	}
	for i := range spec.NetworkInterfaces {
		defaultPolicy(spec.NetworkInterfaces[i].NetworkPolicy)
	}
}

func defaultPorts(ports []v1alpha.NamedPort) {
	for i := range ports {
		if ports[i].Protocol == nil {
			ports[i].Protocol = new(corev1.ProtocolTCP)
		}
	}
}

func defaultVolume(volume *v1alpha.InstanceVolume) {
	if volume.Disk != nil && volume.Disk.Template != nil && volume.Disk.Template.Spec.Type == "" {
		volume.Disk.Template.Spec.Type = diskType
	}
	if volume.ConfigMap != nil && volume.ConfigMap.DefaultMode == nil {
		volume.ConfigMap.DefaultMode = new(dataMode)
	}
	if volume.Secret != nil && volume.Secret.DefaultMode == nil {
		volume.Secret.DefaultMode = new(dataMode)
	}
}

func defaultPolicy(policy *v1alpha.InterfaceNetworkPolicy) {
	if policy == nil {
		return
	}
	for i := range policy.Ingress {
		for j := range policy.Ingress[i].Ports {
			if port := &policy.Ingress[i].Ports[j]; port.Protocol == nil {
				port.Protocol = new(corev1.ProtocolTCP)
			}
		}
	}
}
