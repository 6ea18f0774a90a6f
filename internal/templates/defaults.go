// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Defaults of Kubernetes. A test compares them with what a kube-apiserver writes into a Pod.
const (
	probeTimeout, probePeriod, probeSuccesses, probeFailures = 1, 10, 1, 3

	httpPath, fieldVersion       = "/", "v1"
	dataMode                     = 0o644
	gracePeriod            int64 = 30
	diskType                     = "pd-standard"
)

// normalizeDefaults gives one text to a struct with a default that is written, and to the same struct without it, and
// reports whether it has changed the struct. Defaults are left out, apart from the ones that the CRDs of earlier
// versions wrote into every object: these are written, so that templates keep the hashes that their Instances have.
func normalizeDefaults(item any) bool {
	switch of := item.(type) {
	case *corev1.Probe:
		return anyOf(
			omit(&of.TimeoutSeconds, probeTimeout), omit(&of.PeriodSeconds, probePeriod),
			omit(&of.SuccessThreshold, probeSuccesses), omit(&of.FailureThreshold, probeFailures),
		)
	case *corev1.HTTPGetAction:
		return anyOf(omit(&of.Path, httpPath), omit(&of.Scheme, corev1.URISchemeHTTP))
	case *corev1.GRPCAction:
		return omitPointer(&of.Service, "")
	case *corev1.ObjectFieldSelector:
		return omit(&of.APIVersion, fieldVersion)
	case *corev1.ConfigMapVolumeSource:
		return omitPointer(&of.DefaultMode, dataMode)
	case *corev1.SecretVolumeSource:
		return omitPointer(&of.DefaultMode, dataMode)
	case *v1alpha.SandboxRuntime:
		return anyOf(omitPointer(&of.TerminationGracePeriodSeconds, gracePeriod),
			omitPointer(&of.SecurityContext, v1alpha.SandboxSecurityContext{}))
	case *v1alpha.SandboxContainer:
		return normalizeContainer(of)
	case *v1alpha.NamedPort:
		return writePointer(&of.Protocol, corev1.ProtocolTCP)
	case *v1alpha.DiskSpec:
		return write(&of.Type, diskType)
	case *v1alpha.InstanceNetworkInterface:
		return omit(&of.Name, v1alpha.InterfaceName)
	case *v1alpha.InstanceSpec:
		return omit(&of.OnNodeLoss, v1alpha.NodeLossReplace)
	case *v1alpha.HorizontalScaleSettings:
		return write(&of.InstanceManagementPolicy, v1alpha.OrderedReady)
	}
	return false
}

// normalizeContainer leaves out structs that are empty.
func normalizeContainer(container *v1alpha.SandboxContainer) (changed bool) {
	if container.Resources != nil && len(container.Resources.Limits) == 0 && len(container.Resources.Requests) == 0 {
		container.Resources, changed = nil, true
	}
	return anyOf(omitPointer(&container.SecurityContext, v1alpha.ContainerSecurityContext{}),
		omitPointer(&container.Lifecycle, corev1.Lifecycle{}), changed)
}

func anyOf(changes ...bool) (changed bool) {
	for _, item := range changes {
		changed = changed || item
	}
	return changed
}

// omit leaves out a value that is the default.
func omit[T comparable](field *T, standard T) bool {
	var zero T
	if *field != standard || *field == zero {
		return false
	}
	*field = zero
	return true
}

// omitPointer leaves out a pointer to the default.
func omitPointer[T comparable](field **T, standard T) bool {
	if *field == nil || **field != standard {
		return false
	}
	*field = nil
	return true
}

// write writes a default that is left out.
func write[T comparable](field *T, standard T) bool {
	var zero T
	if *field != zero {
		return false
	}
	*field = standard
	return true
}

func writePointer[T any](field **T, standard T) bool {
	if *field != nil {
		return false
	}
	*field = &standard
	return true
}
