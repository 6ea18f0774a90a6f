// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxReplicas is how many Instances a placement may have in one city.
const maxReplicas = 5000

// Bounds of Kubernetes' autoscaler, in seconds.
const (
	maxWindow = 3600
	maxPeriod = 1800
)

func (p *problems) scale(at place, scale *v1alpha.HorizontalScaleSettings) {
	within(p, at.child("minReplicas"), &scale.MinReplicas, 0, maxReplicas)
	if scale.MaxReplicas != nil {
		limit := *scale.MaxReplicas
		item := at.child("maxReplicas")
		if limit < scale.MinReplicas {
			p.invalid(item, limit, fmt.Sprintf("must be at least minReplicas, %d", scale.MinReplicas))
		}
		if limit > maxReplicas {
			p.invalid(item, limit, validation.InclusiveRangeError(1, maxReplicas))
		}
		if scale.MinReplicas == 0 {
			p.invalid(at.child("minReplicas"), 0, "must be at least 1 with maxReplicas, because no metric of an Instance can "+
				"start the first one; remove maxReplicas and metrics to stop the placement")
		}
		if len(scale.Metrics) == 0 {
			p.invalid(item, limit, "may be set only with metrics")
		}
	}
	if scale.MaxReplicas == nil && len(scale.Metrics) > 0 {
		p.required(at.child("maxReplicas"), "metrics have no effect without it")
	}
	switch scale.InstanceManagementPolicy {
	case "", v1alpha.OrderedReady, v1alpha.Parallel:
	default:
		p.unsupported(at.child("instanceManagementPolicy"), string(scale.InstanceManagementPolicy),
			string(v1alpha.OrderedReady), string(v1alpha.Parallel))
	}
	p.behavior(at.child("behavior"), scale)
	for i := range scale.Metrics {
		p.metric(at.child("metrics").item(i, "").child("resource"), scale.Metrics[i].Resource)
	}
}

func (p *problems) metric(at place, metric *v1alpha.ResourceMetricSource) {
	if metric == nil {
		p.required(at, "must name a resource to scale by")
		return
	}
	if metric.Name != string(corev1.ResourceCPU) && metric.Name != string(corev1.ResourceMemory) {
		p.unsupported(at.child("name"), metric.Name, string(corev1.ResourceCPU), string(corev1.ResourceMemory))
	}
	at = at.child("target")
	set := 0
	if value := metric.Target.Value; value != nil {
		set++
		if item := at.child("value"); p.counted(item, *value) {
			p.forbidden(item, value.String(), "nothing scales by the use of all Instances together; use averageValue or averageUtilization")
		}
	}
	if value := metric.Target.AverageValue; value != nil {
		set++
		p.positive(at.child("averageValue"), *value)
	}
	if value := metric.Target.AverageUtilization; value != nil {
		set++
		if *value <= 0 {
			p.invalid(at.child("averageUtilization"), *value, "must be positive")
		}
	}
	switch {
	case set == 0:
		p.required(at, "must have exactly one of averageValue and averageUtilization")
	case set > 1:
		p.forbidden(at, set, "must have exactly one of averageValue and averageUtilization")
	}
}

// behavior has the rules of Kubernetes' autoscaler.
func (p *problems) behavior(at place, scale *v1alpha.HorizontalScaleSettings) {
	if scale.Behavior == nil {
		return
	}
	if len(scale.Metrics) == 0 {
		p.forbidden(at, "", "may be set only with metrics")
	}
	p.scalingRules(at.child("scaleUp"), scale.Behavior.ScaleUp)
	p.scalingRules(at.child("scaleDown"), scale.Behavior.ScaleDown)
}

func (p *problems) scalingRules(at place, rules *autoscalingv2.HPAScalingRules) {
	if rules == nil {
		return
	}
	within(p, at.child("stabilizationWindowSeconds"), rules.StabilizationWindowSeconds, 0, maxWindow)
	if rules.Tolerance != nil && p.counted(at.child("tolerance"), *rules.Tolerance) {
		p.forbidden(at.child("tolerance"), rules.Tolerance.String(),
			"not every cell supports it; set another target or stabilizationWindowSeconds")
	}
	switch ptr.Deref(rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect) {
	case autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.DisabledPolicySelect:
	default:
		p.unsupported(at.child("selectPolicy"), string(*rules.SelectPolicy), string(autoscalingv2.MaxChangePolicySelect),
			string(autoscalingv2.MinChangePolicySelect), string(autoscalingv2.DisabledPolicySelect))
	}
	if rules.Policies != nil && len(rules.Policies) == 0 {
		p.required(at.child("policies"), "must have at least one policy; omit it for the policies of Kubernetes")
	}
	for i := range rules.Policies {
		p.scalingPolicy(at.child("policies").item(i, ""), &rules.Policies[i])
	}
}

func (p *problems) scalingPolicy(at place, policy *autoscalingv2.HPAScalingPolicy) {
	if policy.Type != autoscalingv2.PodsScalingPolicy && policy.Type != autoscalingv2.PercentScalingPolicy {
		p.unsupported(at.child("type"), string(policy.Type), string(autoscalingv2.PercentScalingPolicy), string(autoscalingv2.PodsScalingPolicy))
	}
	if policy.Value < 1 {
		p.invalid(at.child("value"), policy.Value, "must be positive")
	}
	within(p, at.child("periodSeconds"), &policy.PeriodSeconds, 1, maxPeriod)
}
