// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxSkew bounds the error of the clock of a node. Beyond, it is named, and its times do not count.
const maxSkew = 2 * time.Minute

// Readiness is since when the Pod of an Instance is ready.
type Readiness struct {
	// Since is the time of the Pod's node, unless that is well in the future, or well before the Pod was created: then it is when
	// the agent has seen the Pod ready. It is zero if the Pod is not ready.
	Since time.Time
	// Skew returns the time by which the clock of the node is ahead; negative: behind, at least; 0: it is not known to be off.
	Skew time.Duration
	// Record is the value of AnnotationReadySeen that the Pod must have; "": none.
	Record string
}

// ReadinessOf finds since when the Pod of an Instance is ready.
func ReadinessOf(instance *v1alpha.Instance, pod *corev1.Pod, now time.Time) Readiness {
	var said time.Time
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			said = condition.LastTransitionTime.Time
		}
	}
	node, agent, _ := strings.Cut(pod.Annotations[v1alpha.AnnotationReadySeen], " ")
	seen, err := time.Parse(time.RFC3339, agent)
	isRecorded := err == nil && node == said.UTC().Format(time.RFC3339)
	if !isRecorded {
		seen = firstSeen(instance, now)
	}
	// The agent's clock may differ from the API server's, too.
	ahead, behind := said.Sub(seen), min(pod.CreationTimestamp.Sub(said), seen.Sub(said))
	switch {
	case said.IsZero():
		return Readiness{}
	case ahead > maxSkew && (isRecorded || said.After(now)):
	case behind > maxSkew:
		ahead = -behind
	default:
		return Readiness{Since: said}
	}
	return Readiness{
		Since: seen, Skew: ahead.Truncate(time.Minute), Record: said.UTC().Format(time.RFC3339) + " " + seen.UTC().Format(time.RFC3339),
	}
}

// firstSeen is when the agent has seen the Pod of an Instance ready, of which nothing is recorded: the Instance may have been
// Available before this was recorded.
func firstSeen(instance *v1alpha.Instance, now time.Time) time.Time {
	known := Conditions(instance)
	ready := meta.FindStatusCondition(known, v1alpha.ConditionReady)
	if ready != nil && meta.IsStatusConditionTrue(known, v1alpha.ConditionReady) &&
		meta.IsStatusConditionTrue(known, v1alpha.ConditionAvailable) {
		return ready.LastTransitionTime.Time
	}
	return now
}
