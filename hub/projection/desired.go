// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// desiredInstance returns the projection of a reported Instance; existing is the present one, or empty. A cell reports
// the hash of an Instance's template, not the template: an Instance of an earlier template keeps the spec that was
// projected for it.
func (s *facts) desiredInstance(reported *wire.Instance, existing *v1alpha.Instance, hash string) *v1alpha.Instance {
	template := &s.deployment.Spec.Template
	if p := s.deployment.Spec.Partition; p != nil && reported.TemplateHash != hash {
		template = &p.Template
	}
	spec := *template.Spec.DeepCopy()
	if controller := existing.Spec.Controller; reported.TemplateHash != hash && controller != nil &&
		controller.TemplateHash == reported.TemplateHash {
		spec = *existing.Spec.DeepCopy()
	}
	spec.Location = &v1alpha.LocationReference{Name: naming.CityLabel(s.deployment.Spec.CityCode)}
	spec.Controller = &v1alpha.InstanceController{TemplateHash: reported.TemplateHash, SchedulingGates: slices.Clone(reported.SchedulingGates)}
	index, _ := naming.InstanceIndex(s.deployment.Name, reported.Name)
	return &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Name:            reported.Name,
			Namespace:       s.deployment.Namespace,
			Labels:          naming.InstanceLabels(s.deployment, index),
			Annotations:     maps.Clone(template.Annotations),
			OwnerReferences: []metav1.OwnerReference{s.deployment.ControllerReference()},
		},
		Spec: spec,
	}
}

func desiredInstanceStatus(reported *wire.Instance, generation int64) v1alpha.InstanceStatus {
	status := v1alpha.InstanceStatus{
		Conditions:        observedAt(reported.Conditions, generation),
		NetworkInterfaces: slices.Clone(reported.NetworkInterfaces),
		StartTime:         reported.StartTime,
		Restarts:          reported.Restarts,
		Containers:        reported.Containers,
	}
	if reported.ObservedTemplateHash != "" {
		status.Controller = &v1alpha.InstanceControllerStatus{
			ObservedTemplateHash: reported.ObservedTemplateHash, DataHash: reported.DataHash,
		}
	}
	return status
}

// observedAt returns the conditions with a generation of the project's object: each control plane counts generations on
// its own.
func observedAt(conditions []metav1.Condition, generation int64) []metav1.Condition {
	result := slices.Clone(conditions)
	for i := range result {
		result[i].ObservedGeneration = generation
	}
	return result
}

// withoutForeign returns the conditions without ReferencedDataReady, which hub/references writes: two controllers that
// write one condition would overwrite each other forever.
func withoutForeign(conditions []metav1.Condition) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(conditions), func(condition metav1.Condition) bool {
		return condition.Type == v1alpha.ConditionReferencedDataReady
	})
}

// desiredStatus returns the status that the cells report, with the project's generations. served: the city has a cell;
// refusal is Karmada's reason for finding no cell with capacity, or "". The Instances are separate objects in the
// project and are not repeated here.
func (s *facts) desiredStatus(served bool, refusal string) v1alpha.WorkloadDeploymentStatus {
	generation := s.observedGeneration()
	status := v1alpha.WorkloadDeploymentStatus{
		ObservedGeneration: generation,
		Conditions:         observedAt(withoutForeign(s.copied.Status.Conditions), generation),
		ReplicaCounts:      s.copied.Status.ReplicaCounts,
	}
	// Karmada decides it, not a cell.
	meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionScheduled)
	// A cell that has not observed yet that it loses Instances to another one still wants them.
	status.DesiredReplicas = min(status.DesiredReplicas, s.mostAssigned())
	status.AssignedReplicas = status.DesiredReplicas
	if !s.deployment.Spec.Autoscaled() {
		// The cells count the additional Instances of a rollout.
		status.DesiredReplicas = min(status.DesiredReplicas, s.deployment.Spec.DesiredReplicas())
	}
	if valid := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionReportValid); valid != nil {
		s.set(&status, *valid, s.now)
	}
	if len(status.Conditions) > 0 && (served || status.ReadyReplicas > 0) {
		s.addShortfall(&status, refusal)
		return status
	}
	// No cell has reported yet, or the cells that have are not in the city any more: the conditions name the obstacle.
	status.DesiredReplicas = s.deployment.Spec.DesiredReplicas()
	available := metav1.Condition{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonInstancesProvisioning,
		Message: fmt.Sprintf("waiting for the cell of %s to report", s.deployment.Spec.CityCode),
	}
	if len(s.findings) > 0 {
		available.Reason, available.Message = s.findings[0].Fault.Reason(),
			fmt.Sprintf("%s: %s", s.deployment.Spec.CityCode, described(&s.findings[0]))
	}
	unscheduled := refusal != "" && served
	if unscheduled {
		available.Reason, available.Message = s.noRoom(refusal)
	}
	if !served {
		available.Reason = v1alpha.ReasonNoMatchingLocation
		available.Message = fmt.Sprintf("no cell serves %s; a Cluster on the hub needs the label %s=%s",
			s.deployment.Spec.CityCode, v1alpha.LabelTopologyCity, naming.CityLabel(s.deployment.Spec.CityCode))
	}
	progressing := metav1.Condition{
		Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonRollingOut, Message: available.Message,
	}
	status.Conditions = apply.MergedConditions(withoutForeign(s.deployment.Status.Conditions),
		apply.Stamp{Generation: s.deployment.Generation, Now: s.now}, available, progressing)
	meta.RemoveStatusCondition(&status.Conditions, v1alpha.ConditionScheduled)
	if unscheduled {
		s.addUnscheduled(&status, available.Reason, available.Message)
	}
	return status
}

// hasReport reports whether a cell has reported on the copy, or Karmada has removed it from all cells. Nothing else is
// evidence about the Instances of the deployment.
func (s *facts) hasReport() bool {
	return s.nowhere || len(s.copied.Status.Conditions) > 0 || s.copied.Status.ObservedGeneration > 0
}

// observedGeneration returns the generation of the original that the cells have acted on. It does not change until they
// have acted on the newest copy.
func (s *facts) observedGeneration() int64 {
	if s.copied.Status.ObservedGeneration != s.copied.Generation {
		return s.deployment.Status.ObservedGeneration
	}
	generation, err := strconv.ParseInt(s.copied.Annotations[v1alpha.AnnotationProjectGeneration], 10, 64)
	if err != nil {
		return s.deployment.Status.ObservedGeneration
	}
	return generation
}
