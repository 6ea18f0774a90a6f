// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"encoding/json"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/conditions"
)

// maxReport is the largest size of the entries in the report of one deployment, in bytes of JSON. On the hub one ResourceBinding holds
// the reports of all its cells, and etcd takes at most 1.5 MiB for one object.
const maxReport = 896 << 10

// room is the share of maxReport that the cell of a deployment may use: the share of the Instances that it runs.
func room(deployment *v1alpha.WorkloadDeployment) int {
	assignment := deployment.Spec.Assignment
	if assignment == nil {
		return maxReport
	}
	own, all := len(assignment.Indices(deployment.Cell())), 0
	for i := range assignment.Cells {
		all += len(assignment.Indices(assignment.Cells[i].Name))
	}
	if all == 0 || own == 0 {
		return maxReport
	}
	return maxReport * own / all
}

// Report is the status of a deployment with these Instances. now becomes the transition time of conditions that change.
func Report(deployment *v1alpha.WorkloadDeployment, instances []v1alpha.Instance, now time.Time) (v1alpha.WorkloadDeploymentStatus, error) {
	hash, err := v1alpha.TemplateHash(&deployment.Spec.Template)
	if err != nil {
		return v1alpha.WorkloadDeploymentStatus{}, err
	}
	stamp := conditions.Stamp{Generation: deployment.Generation, Now: now}
	return desiredStatus(deployment, newSummary(deployment, hash, instances), stamp), nil
}

// desiredStatus is the status of a deployment whose Instances are summarized in s.
func desiredStatus(deployment *v1alpha.WorkloadDeployment, s *summary, stamp conditions.Stamp) v1alpha.WorkloadDeploymentStatus {
	reported := make([]v1alpha.ReportedInstance, 0, len(s.ordered))
	for _, instance := range s.ordered {
		reported = append(reported, reportedInstance(instance))
	}
	report := fitting(v1alpha.NewInstanceReport(deployment.Name, reported), room(deployment))
	s.unlisted = len(s.ordered) - len(report.Instances)
	return v1alpha.WorkloadDeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Conditions:         conditions.Stamped(deployment.Status.Conditions, stamp, s.conditions()...),
		ReplicaCounts:      s.counts,
		Reports:            []v1alpha.InstanceReport{report},
		Indices:            []v1alpha.CellIndices{s.facts},
	}
}

// fitting is a report with its first entries, as many as fit with the states into so many bytes of JSON.
func fitting(report v1alpha.InstanceReport, bytes int) v1alpha.InstanceReport {
	states := 0
	for i := range report.Instances {
		before := states
		// These types always encode. If one did not, the API server would refuse the status with the reason.
		encoded, _ := json.Marshal(&report.Instances[i])
		bytes -= len(encoded) + 1
		// States are in the order of the first entries that have them.
		if int(report.Instances[i].State) == states {
			encoded, _ := json.Marshal(&report.States[states])
			bytes -= len(encoded) + 1
			states++
		}
		if bytes < 0 {
			report.Instances, report.States = report.Instances[:i], report.States[:before]
			break
		}
	}
	return report
}

// sameStatus says whether a deployment already has the wanted status. The order of the conditions does not count: the API server
// decides it.
func sameStatus(existing, wanted *v1alpha.WorkloadDeploymentStatus) bool {
	return existing.ObservedGeneration == wanted.ObservedGeneration && existing.Selector == wanted.Selector && existing.ReplicaCounts == wanted.ReplicaCounts &&
		len(existing.Instances) == 0 && conditions.Include(existing.Conditions, wanted.Conditions) &&
		equality.Semantic.DeepEqual(existing.Reports, wanted.Reports) && equality.Semantic.DeepEqual(existing.Indices, wanted.Indices)
}

func reportedInstance(instance *v1alpha.Instance) v1alpha.ReportedInstance {
	reported := v1alpha.ReportedInstance{
		Name:              instance.Name,
		TemplateHash:      instance.TemplateHash(),
		SchedulingGates:   instance.SchedulingGates(),
		Conditions:        instance.Status.Conditions,
		NetworkInterfaces: instance.Status.NetworkInterfaces,
	}
	if instance.Status.Controller != nil {
		reported.ObservedTemplateHash = instance.Status.Controller.ObservedTemplateHash
	}
	return reported
}

func (s *summary) available() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Message: s.describe()}
	if s.unlisted > 0 {
		condition.Message += fmt.Sprintf("; %d Instances are not listed, since the report would be too large; use more placements with fewer replicas each", s.unlisted)
	}
	switch {
	case s.counts.ReadyReplicas > 0:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonStableInstanceFound
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
		condition.Message = fmt.Sprintf("%d of %d Instances are of the current template, %d are being removed",
			s.counts.CurrentReplicas, s.counts.DesiredReplicas, s.leaving)
	}
	return condition
}

func (s *summary) replicasReady() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionReplicasReady, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonAllReplicasReady}
	if s.readyWanted < s.counts.DesiredReplicas {
		condition.Status, condition.Reason = metav1.ConditionFalse, v1alpha.ReasonReplicasNotReady
		condition.Message = s.describe()
	}
	return condition
}

// scalingActive says whether the autoscaler gets the metrics that it scales by.
func scalingActive(autoscaler *autoscalingv2.HorizontalPodAutoscaler) metav1.Condition {
	for _, condition := range autoscaler.Status.Conditions {
		if condition.Type == autoscalingv2.ScalingActive && condition.Reason != "" {
			return metav1.Condition{
				Type: v1alpha.ConditionScalingActive, Status: metav1.ConditionStatus(condition.Status), Reason: condition.Reason, Message: condition.Message,
			}
		}
	}
	return metav1.Condition{
		Type: v1alpha.ConditionScalingActive, Status: metav1.ConditionUnknown, Reason: v1alpha.ReasonAutoscalerStarting,
		Message: "the autoscaler of the cell has not looked at the metrics yet",
	}
}

// describe says how many Instances are Ready, and why the one that needs a user most is not.
func (s *summary) describe() string {
	message := fmt.Sprintf("%d of %d Instances are Ready", s.readyWanted, s.counts.DesiredReplicas)
	if s.worst != "" {
		message += "; " + s.worst
	}
	return message
}
