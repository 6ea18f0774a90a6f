// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// leaveSeconds is how long the containers of an Instance with a Service run after its Pod has begun to stop.
	leaveSeconds = 5
	// defaultGrace is terminationGracePeriodSeconds of Pods that do not set it.
	defaultGrace = 30
)

// leaveFirst lets the proxies of the nodes learn that an Instance has left its Service before its containers get SIGTERM:
// Kubernetes does both at the same time. It applies to every way in which a Pod stops, an eviction too. A container with a
// preStop of its own decides by itself, and half of the grace period remains for the container.
//
// Only new Pods have it: a Service that is added replaces no Instance. The caller leaves it out where the cell does not serve it.
func leaveFirst(pod *corev1.PodSpec, service *v1alpha.WorkloadService) {
	seconds := min(leaveSeconds, ptr.Deref(pod.TerminationGracePeriodSeconds, defaultGrace)/2)
	if service == nil || seconds < 1 {
		return
	}
	for i := range pod.Containers {
		container := &pod.Containers[i]
		if container.Lifecycle == nil {
			container.Lifecycle = &corev1.Lifecycle{}
		}
		if container.Lifecycle.PreStop == nil {
			container.Lifecycle.PreStop = &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}
		}
	}
}
