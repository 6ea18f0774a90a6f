// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// addBudgets makes each PodDisruptionBudget that selects the Pods of one converted object its Workload's
// spec.disruption.
func (m *manifests) addBudgets() {
	m.each(policyv1.GroupName, "PodDisruptionBudget", func(source source, id identity) error {
		budget := &policyv1.PodDisruptionBudget{}
		unknown, err := decode(source, budget)
		if err != nil {
			return err
		}
		object := describe(source.Unstructured)
		selected, why := m.selected(id.namespace, budget.Spec.Selector), ""
		switch {
		case len(selected) == 0:
			why = "it selects the Pods of no converted object" + m.selectedElsewhere(id.namespace, budget.Spec.Selector)
		case len(selected) > 1:
			why = fmt.Sprintf("it selects the Pods of %d converted objects; set spec.disruption of each Workload", len(selected))
		case selected[0].workload.Spec.Disruption != nil:
			why = "another one has become spec.disruption of Workload " + selected[0].workload.Name
		}
		if why != "" {
			m.lose(object, "", "is not converted: "+why)
			return nil
		}
		selected[0].workload.Spec.Disruption = &v1alpha.WorkloadDisruption{
			MinAvailable: budget.Spec.MinAvailable, MaxUnavailable: budget.Spec.MaxUnavailable,
		}
		m.unknown(object, unknown)
		if len(m.Cities) > 1 {
			m.lose(object, "spec", fmt.Sprintf("counts the Instances in all %d cities together", len(m.Cities)))
		}
		if ptr.Deref(budget.Spec.UnhealthyPodEvictionPolicy, policyv1.AlwaysAllow) != policyv1.AlwaysAllow {
			m.lose(object, "spec.unhealthyPodEvictionPolicy", "an Instance that is not Ready may always be evicted while the budget holds")
		}
		return nil
	})
}

// each takes the objects of a kind, which are a part of a Workload or listed then.
func (m *manifests) each(group, kind string, take func(source, identity) error) {
	for _, object := range m.objects {
		if id := m.identify(object); id.group == group && id.kind == kind {
			m.used[id] = true
			if err := take(object, id); err != nil {
				m.problem(object, err)
			}
		}
	}
}

// unknown lists the fields of an object that its type does not have.
func (m *manifests) unknown(object string, fields []error) {
	for _, field := range fields {
		m.lose(object, "", field.Error()+noVersion)
	}
}

// noVersion ends the loss of a field that no version of Kubernetes has.
const noVersion = ": no version of Kubernetes that this program knows has it"

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
	m.each(autoscalingv2.GroupName, "HorizontalPodAutoscaler", func(source source, id identity) error {
		scaler, unknown, err := decodeAutoscaler(source)
		if err != nil {
			return err
		}
		object, target := describe(source.Unstructured), scaler.Spec.ScaleTargetRef
		isTarget := func(c *converted) bool { return c.from.kind == target.Kind && c.from.name == target.Name }
		found := slices.IndexFunc(m.workloads, func(c *converted) bool { return c.from.namespace == id.namespace && isTarget(c) })
		switch {
		case target.Kind == v1alpha.KindWorkload:
			m.lose(object, "", "is not converted: set maxReplicas and metrics in the scaleSettings of Workload "+target.Name)
			return nil
		case found < 0:
			m.lose(object, "", fmt.Sprintf("is not converted: %s %s is no converted object", target.Kind, target.Name)+
				m.elsewhere(id.namespace, isTarget))
			return nil
		case m.workloads[found].workload.Spec.Placements[0].ScaleSettings.MaxReplicas != nil:
			m.lose(object, "", "is not converted: another one scales Workload "+m.workloads[found].workload.Name)
			return nil
		}
		m.unknown(object, unknown)
		m.autoscale(m.workloads[found], scaler, object)
		return nil
	})
}

// decodeAutoscaler decodes the versions that manifests have.
func decodeAutoscaler(object source) (*autoscalingv2.HorizontalPodAutoscaler, []error, error) {
	scaler := &autoscalingv2.HorizontalPodAutoscaler{}
	switch version := object.GetAPIVersion(); version {
	case "autoscaling/v1":
		earlier := &autoscalingv1.HorizontalPodAutoscaler{}
		unknown, err := decode(object, earlier)
		scaler.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{
			MinReplicas: earlier.Spec.MinReplicas, MaxReplicas: earlier.Spec.MaxReplicas,
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(earlier.Spec.ScaleTargetRef),
		}
		if limit := earlier.Spec.TargetCPUUtilizationPercentage; limit != nil {
			target := autoscalingv2.MetricTarget{AverageUtilization: limit}
			scaler.Spec.Metrics = []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: target},
			}}
		}
		return scaler, unknown, err
	case "autoscaling/v2", "autoscaling/v2beta2":
		unknown, err := decode(object, scaler)
		return scaler, unknown, err
	default:
		return nil, nil, fmt.Errorf("Kubernetes serves %s no more; write apiVersion autoscaling/v2", version)
	}
}

func (m *manifests) autoscale(c *converted, from *autoscalingv2.HorizontalPodAutoscaler, object string) {
	if c.replicas != nil && *c.replicas == 0 {
		m.lose(object, "", "is not converted: the object has replicas: 0, with which Kubernetes does not scale it; "+
			"set maxReplicas and metrics of the Workload")
		return
	}
	scale, metrics := &c.workload.Spec.Placements[0].ScaleSettings, m.metricsOf(c, from, object)
	if len(metrics) == 0 {
		m.lose(object, "", "is not converted: it has no metric that Instances are scaled by; "+
			"the Workload has a fixed number of Instances")
		return
	}
	scale.MinReplicas = max(1, ptr.Deref(from.Spec.MinReplicas, 1))
	if ptr.Deref(from.Spec.MinReplicas, 1) == 0 {
		m.lose(object, "spec.minReplicas", "at least one Instance runs while metrics scale: it is 1 here")
	}
	scale.MaxReplicas, scale.Metrics, scale.Behavior = new(max(scale.MinReplicas, from.Spec.MaxReplicas)), metrics, from.Spec.Behavior
	if c.replicas != nil && *c.replicas != scale.MinReplicas {
		c.losef("spec.replicas", "%s sets the number of Instances, and begins with %d", object, scale.MinReplicas)
	}
	if len(m.Cities) > 1 {
		m.lose(object, "spec", "holds in each city by itself, for the Instances there")
	}
	if rollout := c.workload.Spec.Rollout; rollout != nil && rollout.MaxSurge != nil {
		if c.surge {
			c.losses = slices.DeleteFunc(c.losses, func(l Loss) bool { return l.Path == surgePath })
			c.losef(surgePath, "Instances that metrics scale have no additional Instances during a rollout")
		}
		for i := range c.losses {
			c.losses[i].Why = strings.TrimSuffix(c.losses[i].Why, withSurge)
		}
		rollout.MaxSurge = nil
		if equality.Semantic.DeepEqual(*rollout, v1alpha.WorkloadRollout{}) {
			c.workload.Spec.Rollout = nil
		}
	}
}

// metricsOf returns the metrics that Instances are scaled by, and lists the others.
func (m *manifests) metricsOf(c *converted, from *autoscalingv2.HorizontalPodAutoscaler, object string) []v1alpha.MetricSpec {
	var metrics []v1alpha.MetricSpec
	for i, metric := range from.Spec.Metrics {
		path := fmt.Sprintf("spec.metrics[%d]", i)
		source := metric.Resource
		switch {
		case metric.ContainerResource != nil:
			m.lose(object, path, "Instances are scaled by the use of the Instance, and not of one container; a metric of type Resource has it")
			continue
		case source == nil || source.Name != corev1.ResourceCPU && source.Name != corev1.ResourceMemory:
			m.lose(object, path, "Instances are scaled by their cpu and memory")
			continue
		case source.Target.AverageUtilization == nil && source.Target.AverageValue == nil:
			m.lose(object, path, "Instances are scaled by averageUtilization or averageValue")
			continue
		}
		m.baseOf(c, object, path, source)
		metrics = append(metrics, metricOf(string(source.Name), v1alpha.MetricTarget{
			AverageUtilization: source.Target.AverageUtilization, AverageValue: source.Target.AverageValue,
		}))
	}
	if len(from.Spec.Metrics) == 0 {
		// The default of Kubernetes.
		metrics = []v1alpha.MetricSpec{metricOf("cpu", v1alpha.MetricTarget{AverageUtilization: new(int32(80))})}
	}
	return metrics
}

// baseOf lists a use in percent that counts from another amount: Instances request what they may use, and Pods often
// less.
func (m *manifests) baseOf(c *converted, object, path string, usage *autoscalingv2.ResourceMetricSource) {
	if usage.Target.AverageUtilization == nil {
		return
	}
	sandbox := c.workload.Spec.Template.Spec.Runtime.Sandbox
	var requests resource.Quantity
	same := true
	for i := range sandbox.Containers {
		container := &sandbox.Containers[i]
		request, requested := requestOf(container, usage.Name)
		if !requested {
			// Kubernetes does not scale such Pods by percent.
			return
		}
		same = same && templates.IsLimited(container, usage.Name) && request.Cmp(templates.ContainerSize(container)[usage.Name]) == 0
		requests.Add(request)
	}
	if same {
		return
	}
	use := resource.NewMilliQuantity(requests.MilliValue()*int64(*usage.Target.AverageUtilization)/100, requests.Format)
	m.lose(object, path, fmt.Sprintf("counts from the size of an Instance, and not from the requests of its containers; "+
		"averageValue %s is the same use", use.String()))
}

// requestOf is the request of a container, or its limit, which Kubernetes takes without a request.
func requestOf(container *v1alpha.SandboxContainer, name corev1.ResourceName) (resource.Quantity, bool) {
	if container.Resources == nil {
		return resource.Quantity{}, false
	}
	request, found := container.Resources.Requests[name]
	if !found {
		request, found = container.Resources.Limits[name]
	}
	return request.DeepCopy(), found
}

func metricOf(resource string, target v1alpha.MetricTarget) v1alpha.MetricSpec {
	return v1alpha.MetricSpec{Resource: &v1alpha.ResourceMetricSource{Name: resource, Target: target}}
}
