// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// addBudgets makes each PodDisruptionBudget that selects the Pods of one converted object its Workload's
// spec.disruption.
func (m *manifests) addBudgets() {
	for _, object := range m.objects {
		id := m.identify(object)
		if id.group != policyv1.GroupName || id.kind != "PodDisruptionBudget" {
			continue
		}
		budget := &policyv1.PodDisruptionBudget{}
		if _, err := decode(object, budget); err != nil {
			m.problem(object, err)
			continue
		}
		selected := m.selected(id.namespace, budget.Spec.Selector)
		if len(selected) != 1 || selected[0].workload.Spec.Disruption != nil {
			continue
		}
		selected[0].workload.Spec.Disruption = &v1alpha.WorkloadDisruption{
			MinAvailable: budget.Spec.MinAvailable, MaxUnavailable: budget.Spec.MaxUnavailable,
		}
		m.used[id] = true
		if len(m.Cities) > 1 {
			m.lose(describe(object.Unstructured), "spec", fmt.Sprintf("counts the Instances in all %d cities together", len(m.Cities)))
		}
		if budget.Spec.UnhealthyPodEvictionPolicy != nil {
			m.lose(describe(object.Unstructured), "spec.unhealthyPodEvictionPolicy",
				"an Instance that is not Ready may always be evicted while the budget holds")
		}
	}
}

// selected are the converted objects of a namespace whose Pods a selector matches.
func (m *manifests) selected(namespace string, selector *metav1.LabelSelector) []*converted {
	matches, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil
	}
	var found []*converted
	for _, c := range m.workloads {
		if c.from.namespace == namespace && matches.Matches(labels.Set(c.podLabels)) {
			found = append(found, c)
		}
	}
	return found
}

// addAutoscalers makes each HorizontalPodAutoscaler of a converted object the scale settings of its Workload.
func (m *manifests) addAutoscalers() {
	for _, object := range m.objects {
		id := m.identify(object)
		if id.kind != "HorizontalPodAutoscaler" || object.GetAPIVersion() != autoscalingv2.SchemeGroupVersion.String() {
			continue
		}
		scaler := &autoscalingv2.HorizontalPodAutoscaler{}
		if _, err := decode(object, scaler); err != nil {
			m.problem(object, err)
			continue
		}
		target := scaler.Spec.ScaleTargetRef
		for _, c := range m.workloads {
			if c.from.namespace == id.namespace && c.from.kind == target.Kind && c.from.name == target.Name {
				m.used[id] = true
				m.autoscale(c, scaler, describe(object.Unstructured))
			}
		}
	}
}

func (m *manifests) autoscale(c *converted, from *autoscalingv2.HorizontalPodAutoscaler, object string) {
	scale := &c.workload.Spec.Placements[0].ScaleSettings
	var metrics []v1alpha.MetricSpec
	for i, metric := range from.Spec.Metrics {
		path := fmt.Sprintf("spec.metrics[%d]", i)
		source := metric.Resource
		if source == nil || source.Name != corev1.ResourceCPU && source.Name != corev1.ResourceMemory {
			m.lose(object, path, "Instances are scaled by their cpu and memory")
			continue
		}
		metrics = append(metrics, metricOf(string(source.Name), v1alpha.MetricTarget{
			AverageUtilization: source.Target.AverageUtilization, AverageValue: source.Target.AverageValue,
		}))
	}
	if len(from.Spec.Metrics) == 0 {
		// The default of Kubernetes.
		metrics = []v1alpha.MetricSpec{metricOf("cpu", v1alpha.MetricTarget{AverageUtilization: new(int32(80))})}
	}
	if len(metrics) == 0 {
		return
	}
	scale.MinReplicas = 1
	if from.Spec.MinReplicas != nil {
		scale.MinReplicas = max(1, *from.Spec.MinReplicas)
	}
	scale.MaxReplicas, scale.Metrics, scale.Behavior = new(max(scale.MinReplicas, from.Spec.MaxReplicas)), metrics, from.Spec.Behavior
	if len(m.Cities) > 1 {
		m.lose(object, "spec", "holds in each city by itself, for the Instances there")
	}
	if rollout := c.workload.Spec.Rollout; rollout != nil && rollout.MaxSurge != nil {
		c.losef("spec.strategy.rollingUpdate.maxSurge", "Instances that metrics scale have no additional Instances during a rollout")
		rollout.MaxSurge = nil
	}
}

func metricOf(resource string, target v1alpha.MetricTarget) v1alpha.MetricSpec {
	return v1alpha.MetricSpec{Resource: &v1alpha.ResourceMetricSource{Name: resource, Target: target}}
}
