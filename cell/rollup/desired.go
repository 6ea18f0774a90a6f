// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"cmp"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Reports are the reports of an agent about a deployment.
type Reports struct {
	// Status of the deployment.
	Status v1alpha.WorkloadDeploymentStatus

	deployment string
	slices     int
	summary    *summary
}

// Report creates the reports of a deployment with these Instances. arrived reports whether the cell has a slice; nil:
// it has all slices. now becomes the transition time of conditions that change.
func Report(
	deployment *v1alpha.WorkloadDeployment, instances []v1alpha.Instance, arrived func(slice int) bool, now time.Time,
) (*Reports, error) {
	versions, err := owned.TemplatesOf(deployment, instances)
	if err != nil {
		return nil, err
	}
	r := &Reports{
		deployment: deployment.Name, slices: min(int(deployment.Spec.Slices), naming.MaxSlices),
		summary: newSummary(deployment, versions, instances),
	}
	if arrived != nil {
		r.summary.countUnlisted(r.slices, arrived)
	}
	r.Status = desiredStatus(deployment, r.summary, apply.Stamp{Generation: deployment.Generation, Now: now})
	return r, nil
}

// desiredStatus is the status of a deployment whose Instances are summarized in s.
func desiredStatus(deployment *v1alpha.WorkloadDeployment, s *summary, stamp apply.Stamp) v1alpha.WorkloadDeploymentStatus {
	return v1alpha.WorkloadDeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Conditions:         apply.StampedConditions(deployment.Status.Conditions, stamp, s.conditions()...),
		ReplicaCounts:      s.counts,
		Reports:            []v1alpha.InstanceReport{s.report(deployment.Name, v1alpha.IndexRange{Last: naming.InlineInstances - 1})},
		Indices:            []v1alpha.CellIndices{s.facts},
	}
}

// sameStatus reports whether a deployment already has the wanted status. The order of the conditions does not count:
// the API server decides it.
func sameStatus(existing, wanted *v1alpha.WorkloadDeploymentStatus) bool {
	return existing.ObservedGeneration == wanted.ObservedGeneration && existing.Selector == wanted.Selector &&
		existing.ReplicaCounts == wanted.ReplicaCounts &&
		apply.IncludeConditions(existing.Conditions, wanted.Conditions) &&
		equality.Semantic.DeepEqual(existing.Reports, wanted.Reports) && equality.Semantic.DeepEqual(existing.Indices, wanted.Indices)
}

// maxSequence is the largest number that every reader of a report, Lua included, reads exactly.
const maxSequence = 1<<53 - 1

// next is the sequence of the report after one with this sequence. Another writer may have changed that one to anything:
// the time leads away from every sequence that was used before.
func next(sequence int64, now time.Time) int64 {
	if sequence < 0 || sequence >= maxSequence {
		sequence = 0
	}
	return max(sequence+1, now.UnixMilli())
}

func (s *summary) available() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Message: s.describe()}
	if s.unlisted > 0 {
		condition.Message += fmt.Sprintf("; %s not listed: the cell does not have the InstanceSlice yet",
			reasons.Count(s.unlisted, "Instance is", "Instances are"))
	}
	switch {
	case s.scaledToZero:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonScaledToZero
	case s.counts.AvailableReplicas >= s.needed:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonStableInstanceFound
	case s.cause() != "":
		condition.Reason = s.cause()
	case s.heldByQuota:
		condition.Reason = v1alpha.ReasonQuotaNotGranted
	case s.awaitedNetworks != "":
		condition.Reason = v1alpha.ReasonNetworkProvisioning
		condition.Message += "; " + s.awaitedNetworks
	case s.heldByData:
		condition.Reason = v1alpha.ReasonReferencedDataNotReady
	default:
		condition.Reason = v1alpha.ReasonInstancesProvisioning
	}
	return condition
}

func (s *summary) progressing() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonSettled}
	if !s.settled() {
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonRollingOut
		condition.Message = fmt.Sprintf("%d of %s the current template, %s being deleted",
			s.counts.CurrentReplicas, reasons.Count(s.counts.DesiredReplicas, "Instance has", "Instances have"),
			reasons.Count(s.leaving, "is", "are"))
		if s.worst.message != "" {
			condition.Message += "; " + s.worst.message
		}
	}
	return condition
}

func (s *summary) replicasReady() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonAllReplicasReady}
	if s.readyWanted < s.counts.DesiredReplicas {
		condition.Status, condition.Reason = metav1.ConditionFalse, cmp.Or(s.cause(), v1alpha.ReasonReplicasNotReady)
		condition.Message = s.describe()
	}
	return condition
}

// scalingActive reports whether the autoscaler gets the metrics that it scales by.
func scalingActive(autoscaler *autoscalingv2.HorizontalPodAutoscaler) metav1.Condition {
	for _, condition := range autoscaler.Status.Conditions {
		if condition.Type == autoscalingv2.ScalingActive && condition.Reason != "" {
			return metav1.Condition{
				Type: v1alpha.ConditionScalingActive, Status: metav1.ConditionStatus(condition.Status), Reason: condition.Reason,
				Message: condition.Message,
			}
		}
	}
	return metav1.Condition{
		Type: v1alpha.ConditionScalingActive, Status: metav1.ConditionUnknown, Reason: v1alpha.ReasonAutoscalerStarting,
		Message: "the autoscaler of the cell has not read the metrics yet",
	}
}

// describe returns the number of Ready Instances, and the reason why the Instance that most needs a user is not Ready.
func (s *summary) describe() string {
	message := fmt.Sprintf("%d of %s Ready", s.readyWanted, reasons.Count(s.counts.DesiredReplicas, "Instance is", "Instances are"))
	if s.availableWanted < s.readyWanted {
		message += fmt.Sprintf(", %d of them for minReadySeconds", s.availableWanted)
	}
	if s.worst.message != "" {
		message += "; " + s.worst.message
	}
	return message
}
