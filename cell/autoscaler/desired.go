// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// desiredAutoscaler scales deployment between least and most Instances.
func desiredAutoscaler(deployment *v1alpha.WorkloadDeployment, least, limit int) *autoscalingv2.HorizontalPodAutoscaler {
	result := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{
			Name: deployment.Name, Namespace: deployment.Namespace,
			// The cache selects autoscalers by this label.
			Labels:          map[string]string{v1alpha.LabelDeploymentName: deployment.Name},
			OwnerReferences: []metav1.OwnerReference{deployment.ControllerReference()},
		},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment, Name: deployment.Name,
			},
			MinReplicas: new(int32(least)), //nolint:gosec // there are at most 1000
			MaxReplicas: int32(limit),      //nolint:gosec // there are at most 1000
			Behavior:    desiredBehavior(deployment.Spec.ScaleSettings.Behavior),
		},
	}
	for i := range deployment.Spec.ScaleSettings.Metrics {
		if source := deployment.Spec.ScaleSettings.Metrics[i].Resource; source.PerInstance() {
			result.Spec.Metrics = append(result.Spec.Metrics, desiredMetric(source))
		}
	}
	return result
}

func desiredMetric(source *v1alpha.ResourceMetricSource) autoscalingv2.MetricSpec {
	target := autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType}
	switch {
	case source.Target.AverageUtilization != nil:
		target.Type = autoscalingv2.UtilizationMetricType
		target.AverageUtilization = new(*source.Target.AverageUtilization)
	case source.Target.AverageValue != nil:
		target.AverageValue = new(source.Target.AverageValue.DeepCopy())
	}
	return autoscalingv2.MetricSpec{
		Type:     autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceName(source.Name), Target: target},
	}
}

// desiredBehavior sets the defaults of Kubernetes for fields that the deployment omits: an API server stores the
// defaults, and the stored autoscaler is compared with the desired one.
func desiredBehavior(wanted *autoscalingv2.HorizontalPodAutoscalerBehavior) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	if wanted == nil {
		return nil
	}
	up := autoscalingv2.HPAScalingRules{
		StabilizationWindowSeconds: new(int32(0)), SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
		Policies: []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		},
	}
	down := autoscalingv2.HPAScalingRules{
		SelectPolicy: new(autoscalingv2.MaxChangePolicySelect),
		Policies:     []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15}},
	}
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleUp: mergeRules(up, wanted.ScaleUp), ScaleDown: mergeRules(down, wanted.ScaleDown),
	}
}

func mergeRules(defaults autoscalingv2.HPAScalingRules, wanted *autoscalingv2.HPAScalingRules) *autoscalingv2.HPAScalingRules {
	if wanted == nil {
		return &defaults
	}
	rules := wanted.DeepCopy()
	if rules.StabilizationWindowSeconds == nil {
		rules.StabilizationWindowSeconds = defaults.StabilizationWindowSeconds
	}
	if rules.SelectPolicy == nil {
		rules.SelectPolicy = defaults.SelectPolicy
	}
	if rules.Policies == nil {
		rules.Policies = defaults.Policies
	}
	return rules
}
