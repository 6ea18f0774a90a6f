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
)

// desiredInstance is the projection of a reported Instance. A cell reports the hash of its template and not the
// template itself: while an older one still runs, the spec that was projected for it stays.
func (p *pass) desiredInstance(reported *v1alpha.ReportedInstance, existing *v1alpha.Instance, hash string) *v1alpha.Instance {
	template := &p.deployment.Spec.Template
	spec := *template.Spec.DeepCopy()
	if existing != nil && reported.TemplateHash != hash && templateHashOf(existing) == reported.TemplateHash {
		spec = *existing.Spec.DeepCopy()
	}
	spec.Location = &v1alpha.LocationReference{Name: v1alpha.CityLabel(p.deployment.Spec.CityCode)}
	spec.Controller = &v1alpha.InstanceController{TemplateHash: reported.TemplateHash, SchedulingGates: slices.Clone(reported.SchedulingGates)}
	return &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Name:        reported.Name,
			Namespace:   p.deployment.Namespace,
			Labels:      p.instanceLabels(reported.Name),
			Annotations: maps.Clone(template.Annotations),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion:         v1alpha.GroupVersion.String(),
				Kind:               "WorkloadDeployment",
				Name:               p.deployment.Name,
				UID:                p.deployment.UID,
				Controller:         new(true),
				BlockOwnerDeletion: new(true),
			}},
		},
		Spec: spec,
	}
}

func templateHashOf(instance *v1alpha.Instance) string {
	if instance.Spec.Controller == nil {
		return ""
	}
	return instance.Spec.Controller.TemplateHash
}

func (p *pass) instanceLabels(name string) map[string]string {
	index, _ := v1alpha.InstanceIndex(p.deployment.Name, name)
	labels := maps.Clone(p.deployment.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, map[string]string{
		v1alpha.LabelInstanceIndex:  strconv.Itoa(index),
		v1alpha.LabelWorkloadUID:    string(p.deployment.Spec.WorkloadRef.UID),
		v1alpha.LabelWorkloadName:   p.deployment.Spec.WorkloadRef.Name,
		v1alpha.LabelDeploymentUID:  string(p.deployment.UID),
		v1alpha.LabelDeploymentName: p.deployment.Name,
		v1alpha.LabelCityCode:       p.deployment.Spec.CityCode,
		v1alpha.LabelPlacementName:  p.deployment.Spec.PlacementName,
	})
	return labels
}

func desiredInstanceStatus(reported *v1alpha.ReportedInstance, generation int64) v1alpha.InstanceStatus {
	status := v1alpha.InstanceStatus{
		Conditions:        observedAt(reported.Conditions, generation),
		NetworkInterfaces: slices.Clone(reported.NetworkInterfaces),
	}
	if reported.ObservedTemplateHash != "" {
		status.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: reported.ObservedTemplateHash}
	}
	return status
}

// observedAt are the conditions with a generation of the project's object: generations are counted by each control
// plane for itself.
func observedAt(conditions []metav1.Condition, generation int64) []metav1.Condition {
	result := slices.Clone(conditions)
	for i := range result {
		result[i].ObservedGeneration = generation
	}
	return result
}

// withoutForeign are conditions less the one that hub/references writes: a cell has no say in it, and two owners of one
// condition would write it in turns.
func withoutForeign(conditions []metav1.Condition) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(conditions), func(condition metav1.Condition) bool {
		return condition.Type == v1alpha.ConditionReferencedDataReady
	})
}

// desiredStatus is what the cells report, in the project's terms. served says whether the city has a cell, and refusal why
// Karmada finds none that could take the deployment, or "". The Instances themselves are objects in the
// project and not repeated here.
func (p *pass) desiredStatus(served bool, refusal string) v1alpha.WorkloadDeploymentStatus {
	generation := p.observedGeneration()
	status := v1alpha.WorkloadDeploymentStatus{
		ObservedGeneration: generation,
		Conditions:         observedAt(withoutForeign(p.copied.Status.Conditions), generation),
		ReplicaCounts:      p.copied.Status.ReplicaCounts,
	}
	if len(status.Conditions) > 0 {
		p.addShortfall(&status, refusal)
		return status
	}
	// No cell has reported yet: say what is waited for.
	status.Conditions = withoutForeign(p.deployment.Status.Conditions)
	status.DesiredReplicas = p.deployment.Spec.DesiredReplicas()
	available := metav1.Condition{
		Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonInstancesProvisioning,
		Message: fmt.Sprintf("waiting for the cell of %s to report", p.deployment.Spec.CityCode),
	}
	if refusal != "" {
		available.Message = p.noRoom(refusal)
	}
	if !served {
		available.Reason = v1alpha.ReasonNoMatchingLocation
		available.Message = fmt.Sprintf("no cell serves %s; a Cluster on the hub needs the label %s=%s",
			p.deployment.Spec.CityCode, v1alpha.LabelTopologyCity, v1alpha.CityLabel(p.deployment.Spec.CityCode))
	}
	progressing := metav1.Condition{
		Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonRollingOut, Message: available.Message,
	}
	for _, condition := range []metav1.Condition{available, progressing} {
		condition.ObservedGeneration = p.deployment.Generation
		condition.LastTransitionTime = metav1.NewTime(p.Clock.Now()).Rfc3339Copy()
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	return status
}

// observedGeneration is the generation of the project's original that the cell has acted on: the one that the copy
// was made from when the copy itself is observed, else what was known before.
func (p *pass) observedGeneration() int64 {
	if p.copied.Status.ObservedGeneration != p.copied.Generation {
		return p.deployment.Status.ObservedGeneration
	}
	generation, err := strconv.ParseInt(p.copied.Annotations[v1alpha.AnnotationProjectGeneration], 10, 64)
	if err != nil {
		return p.deployment.Status.ObservedGeneration
	}
	return generation
}
