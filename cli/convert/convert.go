// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package convert converts Deployments and StatefulSets to Workloads.
package convert

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/podfields"
)

// Options holds the fields of a Workload that a Deployment does not have.
type Options struct {
	// Cities of the Workload.
	Cities []string
	// Network of its Instances.
	Network string
	// InstanceType of its Instances; "": the operator's default.
	InstanceType string
}

// Loss is a field of an object that a Workload does not have.
type Loss struct {
	// Object by kind and name.
	Object string
	podfields.Loss
}

// String returns a line for a user.
func (l Loss) String() string {
	if l.Path == "" {
		return fmt.Sprintf("%s: %s", l.Object, l.Why)
	}
	return fmt.Sprintf("%s: %s: %s", l.Object, l.Path, l.Why)
}

// placement is the name of the only placement of a converted Workload.
const placement = "default"

// FromDeployment converts a Deployment to a Workload.
func FromDeployment(from *appsv1.Deployment, o Options) (*v1alpha.Workload, []Loss) {
	c := newConversion("Deployment", &from.ObjectMeta, o)
	c.lose(podfields.Losses(&from.Spec, "spec")...)
	scale := c.scale(from.Spec.Replicas)
	scale.InstanceManagementPolicy = v1alpha.Parallel
	rollout := &v1alpha.WorkloadRollout{ProgressDeadlineSeconds: from.Spec.ProgressDeadlineSeconds}
	switch update := from.Spec.Strategy.RollingUpdate; {
	case from.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType:
		rollout.MaxUnavailable = new(intstr.FromString("100%"))
		withoutSurge(rollout, scale)
	case update != nil:
		rollout.MaxUnavailable = c.maxUnavailable(update.MaxUnavailable, "spec.strategy.rollingUpdate.maxUnavailable")
		rollout.MaxSurge = update.MaxSurge
	}
	c.rollout(rollout, from.Spec.MinReadySeconds)
	c.template(&from.Spec.Template)
	return c.workload, c.losses
}

// FromStatefulSet converts a StatefulSet to a Workload.
func FromStatefulSet(from *appsv1.StatefulSet, o Options) (*v1alpha.Workload, []Loss) {
	c := newConversion("StatefulSet", &from.ObjectMeta, o)
	c.lose(podfields.Losses(&from.Spec, "spec")...)
	scale := c.scale(from.Spec.Replicas)
	scale.InstanceManagementPolicy = v1alpha.OrderedReady
	rollout := &v1alpha.WorkloadRollout{}
	if from.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		scale.InstanceManagementPolicy = v1alpha.Parallel
		// A StatefulSet replaces one Pod at a time by default.
		rollout.MaxUnavailable = new(intstr.FromInt32(1))
	}
	if update := from.Spec.UpdateStrategy.RollingUpdate; update != nil && update.MaxUnavailable != nil {
		rollout.MaxUnavailable = c.maxUnavailable(update.MaxUnavailable, "spec.updateStrategy.rollingUpdate.maxUnavailable")
	}
	withoutSurge(rollout, scale)
	c.rollout(rollout, from.Spec.MinReadySeconds)
	c.template(&from.Spec.Template)
	return c.workload, c.losses
}

// withoutSurge leaves a single Instance alone while it is replaced: its Pods never ran beside each other.
func withoutSurge(rollout *v1alpha.WorkloadRollout, scale *v1alpha.HorizontalScaleSettings) {
	if scale.MinReplicas == 1 {
		rollout.MaxSurge = new(intstr.FromInt32(0))
	}
}

// conversion is the state of one conversion.
type conversion struct {
	Options
	object   string
	workload *v1alpha.Workload
	losses   []Loss
}

func newConversion(kind string, meta *metav1.ObjectMeta, o Options) *conversion {
	workload := &v1alpha.Workload{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkload},
		ObjectMeta: metav1.ObjectMeta{Name: meta.Name, Namespace: meta.Namespace, Labels: maps.Clone(meta.Labels)},
	}
	return &conversion{Options: o, object: kind + " " + meta.Name, workload: workload}
}

func (c *conversion) lose(losses ...podfields.Loss) {
	for _, loss := range losses {
		c.losses = append(c.losses, Loss{Object: c.object, Loss: loss})
	}
}

func (c *conversion) scale(replicas *int32) *v1alpha.HorizontalScaleSettings {
	wanted := ptr.Deref(replicas, 1)
	if wanted < 1 {
		c.lose(podfields.Loss{Path: "spec.replicas", Why: "a Workload runs at least 1 Instance in each city; it has 1"})
		wanted = 1
	}
	c.workload.Spec.Placements = []v1alpha.WorkloadPlacement{{
		Name: placement, CityCodes: slices.Clone(c.Cities), ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: wanted},
	}}
	return &c.workload.Spec.Placements[0].ScaleSettings
}

func (c *conversion) maxUnavailable(most *intstr.IntOrString, path string) *intstr.IntOrString {
	if most == nil {
		return nil
	}
	if zero := most.IntValue() == 0 && most.Type == intstr.Int || most.StrVal == "0%"; zero {
		c.lose(podfields.Loss{Path: path, Why: "an Instance is replaced in its place, so that 1 is unavailable for some time"})
		return new(intstr.FromInt32(1))
	}
	return new(*most)
}

func (c *conversion) rollout(rollout *v1alpha.WorkloadRollout, minReady int32) {
	if !equality.Semantic.DeepEqual(*rollout, v1alpha.WorkloadRollout{}) {
		c.workload.Spec.Rollout = rollout
	}
	if minReady > 0 {
		c.workload.Spec.MinReadySeconds = &minReady
	}
}

// template converts the template of Pods.
func (c *conversion) template(from *corev1.PodTemplateSpec) {
	to := &c.workload.Spec.Template
	to.Labels, to.Annotations = maps.Clone(from.Labels), maps.Clone(from.Annotations)
	to.Spec.Runtime.Resources.InstanceType = c.InstanceType
	to.Spec.NetworkInterfaces = []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: c.Network}}}
	to.Spec.Runtime.Sandbox = c.sandbox(&from.Spec)
	to.Spec.Volumes = c.volumes(from.Spec.Volumes, to.Spec.Runtime.Sandbox)
}
