// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/autoscaler"
)

func (f *fixture) reconcileAutoscaler() {
	f.t.Helper()
	f.reconcile(&autoscaler.Reconciler{Client: f.cached}, "web")
}

// autoscaled lets the deployment be scaled by CPU up to so many Instances.
func autoscaled(most int32) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.ScaleSettings.MaxReplicas = new(most)
		d.Spec.ScaleSettings.Metrics = []v1alpha.MetricSpec{
			{Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(70))}}},
			{Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: v1alpha.MetricTarget{AverageValue: new(quantity("500m"))}}},
		}
	}
}

// assigned gives the cell some of the Instances.
func assigned(least *int32, first, last int32) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Annotations = map[string]string{v1alpha.AnnotationWorkNamespace: "karmada-es-here"}
		d.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
			{Name: "here", MinReplicas: least, Indices: []v1alpha.IndexRange{{First: first, Last: last}}},
			{Name: "there", Indices: []v1alpha.IndexRange{{First: last + 1, Last: last + 4}}},
		}}
	}
}

func TestAutoscalerBounds(t *testing.T) {
	tests := map[string]struct {
		changes     []func(*v1alpha.WorkloadDeployment)
		least, most int32
	}{
		"one cell":                         {[]func(*v1alpha.WorkloadDeployment){autoscaled(6)}, 2, 6},
		"one of several cells":             {[]func(*v1alpha.WorkloadDeployment){autoscaled(6), assigned(new(int32(1)), 3, 5)}, 1, 3},
		"a cell of a hub without minimums": {[]func(*v1alpha.WorkloadDeployment){autoscaled(6), assigned(nil, 3, 5)}, 2, 3},
		"no room":                          {[]func(*v1alpha.WorkloadDeployment){autoscaled(2)}, 0, 0},
		"no metrics":                       {nil, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(2, test.changes...)
			f.reconcileAutoscaler()
			stored := &autoscalingv2.HorizontalPodAutoscaler{}
			err := f.direct.Get(t.Context(), client.ObjectKeyFromObject(deployment), stored)
			if test.most == 0 {
				if !apierrors.IsNotFound(err) {
					t.Fatalf("got %v and %v, want none", stored.Spec, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if *stored.Spec.MinReplicas != test.least || stored.Spec.MaxReplicas != test.most {
				t.Errorf("from %d to %d, want from %d to %d", *stored.Spec.MinReplicas, stored.Spec.MaxReplicas, test.least, test.most)
			}
			if !metav1.IsControlledBy(stored, deployment) {
				t.Errorf("owners %v", stored.OwnerReferences)
			}
		})
	}
}

// TestAutoscalerMetrics: the metrics come from the deployment, and changes by hand are reverted.
func TestAutoscalerMetrics(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, autoscaled(3))
	f.reconcileAutoscaler()
	stored := &autoscalingv2.HorizontalPodAutoscaler{}
	f.get(stored, deployment.Name)
	want := []autoscalingv2.MetricSpec{
		{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{
				Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(70)),
			},
		}},
		{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{
				Type: autoscalingv2.AverageValueMetricType, AverageValue: new(quantity("500m")),
			},
		}},
	}
	if !equality.Semantic.DeepEqual(stored.Spec.Metrics, want) {
		t.Errorf("metrics %v", stored.Spec.Metrics)
	}
	stored.Spec.MaxReplicas = 30
	f.update(stored)
	f.reconcileAutoscaler()
	f.get(stored, deployment.Name)
	if stored.Spec.MaxReplicas != 3 {
		t.Errorf("up to %d Instances, want 3", stored.Spec.MaxReplicas)
	}
	version := stored.ResourceVersion
	f.reconcileAutoscaler()
	f.get(stored, deployment.Name)
	if stored.ResourceVersion != version {
		t.Error("a settled autoscaler was written again")
	}
	deployment = f.storedDeployment()
	deployment.Spec.ScaleSettings.MaxReplicas = nil
	f.update(deployment)
	f.reconcileAutoscaler()
	if err := f.direct.Get(t.Context(), client.ObjectKeyFromObject(deployment), stored); !apierrors.IsNotFound(err) {
		t.Errorf("the autoscaler of a deployment that is not scaled any more: %v", err)
	}
}

// TestScaleSubresource: the cell runs the number of Instances that Kubernetes' autoscaler writes, within the bounds of
// the cell, and the subresource names the Pods to measure.
func TestScaleSubresource(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, autoscaled(9), assigned(new(int32(1)), 2, 4), parallel)
	for _, test := range []struct {
		wanted int32
		want   []string
	}{
		{2, []string{"web-2", "web-3"}},
		{9, []string{"web-2", "web-3", "web-4"}},
	} {
		if err := f.direct.SubResource("scale").Update(t.Context(), deployment, client.WithSubResourceBody(
			&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: test.wanted}})); err != nil {
			t.Fatal(err)
		}
		f.reconcile(f.deployments(), "web")
		f.wantInstances(test.want, nil)
	}
	f.rollUp()
	scale := &autoscalingv1.Scale{}
	if err := f.direct.SubResource("scale").Get(t.Context(), deployment, scale); err != nil {
		t.Fatal(err)
	}
	if want := v1alpha.LabelDeploymentName + "=web"; scale.Status.Selector != want || scale.Status.Replicas != 3 {
		t.Errorf("selector %q of %d replicas, want %q of 3", scale.Status.Selector, scale.Status.Replicas, want)
	}
}

// TestScalingActive: an autoscaler without metrics is no secret.
func TestScalingActive(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, autoscaled(3))
	rollups := func() *metav1.Condition {
		f.rollUp()
		return meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionScalingActive)
	}
	if got := rollups(); got == nil || got.Status != metav1.ConditionUnknown || got.Reason != v1alpha.ReasonAutoscalerStarting {
		t.Errorf("before the autoscaler has looked: %v", got)
	}
	f.reconcileAutoscaler()
	stored := &autoscalingv2.HorizontalPodAutoscaler{}
	f.get(stored, deployment.Name)
	stored.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{
		Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "FailedGetResourceMetric", Message: "no metrics known",
	}}
	if err := f.direct.Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if got := rollups(); got == nil || got.Status != metav1.ConditionFalse || got.Reason != "FailedGetResourceMetric" ||
		got.Message != "no metrics known" {
		t.Errorf("without metrics: %v", got)
	}
}

// TestAutoscalerBehavior: omitted fields get Kubernetes' defaults, and a settled autoscaler is not written again.
func TestAutoscalerBehavior(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(1, autoscaled(3), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.ScaleSettings.Metrics[1].Resource.Name = "memory"
		d.Spec.ScaleSettings.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{
			StabilizationWindowSeconds: new(int32(5)),
			Policies:                   []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: 1, PeriodSeconds: 60}},
		}}
	})
	f.reconcileAutoscaler()
	stored := &autoscalingv2.HorizontalPodAutoscaler{}
	f.get(stored, deployment.Name)
	if name := stored.Spec.Metrics[1].Resource.Name; name != corev1.ResourceMemory {
		t.Errorf("the second metric is of %s", name)
	}
	down, up := stored.Spec.Behavior.ScaleDown, stored.Spec.Behavior.ScaleUp
	if *down.StabilizationWindowSeconds != 5 || len(down.Policies) != 1 || down.Policies[0].Value != 1 ||
		*down.SelectPolicy != autoscalingv2.MaxChangePolicySelect {
		t.Errorf("down %+v", down)
	}
	if *up.StabilizationWindowSeconds != 0 || len(up.Policies) != 2 {
		t.Errorf("up %+v", up)
	}
	version := stored.ResourceVersion
	f.reconcileAutoscaler()
	f.get(stored, deployment.Name)
	if stored.ResourceVersion != version {
		t.Error("a settled autoscaler was written again")
	}
	changed := f.storedDeployment()
	changed.Spec.ScaleSettings.Behavior = nil
	f.update(changed)
	f.reconcileAutoscaler()
	f.get(stored, deployment.Name)
	if stored.Spec.Behavior != nil {
		t.Errorf("behavior %+v stays", stored.Spec.Behavior)
	}
}
