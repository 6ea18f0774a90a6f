// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// CompleteService returns a service with its defaults written: an omitted default and a written one are the same
// service. It is nil for nil.
func CompleteService(service *v1alpha.WorkloadService) *v1alpha.WorkloadService {
	if service == nil {
		return nil
	}
	completed := service.DeepCopy()
	for i := range completed.Ports {
		port := &completed.Ports[i]
		port.Protocol = new(ptr.Deref(port.Protocol, corev1.ProtocolTCP))
		if unset(port.TargetPort) {
			port.TargetPort = new(intstr.FromInt32(port.Port))
		}
	}
	return completed
}

// unset reports whether a target port is one that a Service of Kubernetes takes for not set.
func unset(port *intstr.IntOrString) bool {
	return port == nil || *port == intstr.FromInt32(0) || *port == intstr.FromString("")
}
