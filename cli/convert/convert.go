// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package convert converts Deployments and StatefulSets to Workloads.
package convert

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Options holds the fields of a Workload that a Deployment does not have.
type Options struct {
	// Cities of the Workload.
	Cities []string
	// Network of its Instances.
	Network string
	// InstanceType of its Instances; "": the operator's default.
	InstanceType string
	// Namespace of objects that name none.
	Namespace string
	// ProjectNamespace is the namespace of the project that all objects move to; "": each stays in its namespace.
	ProjectNamespace string
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

// fromDeployment converts a Deployment to a Workload.
func fromDeployment(from *appsv1.Deployment, o Options) *conversion {
	c := newConversion("Deployment", &from.ObjectMeta, o)
	c.fields(&from.Spec, from.Spec.Template.Spec.Volumes)
	scale := c.scale(from.Spec.Replicas)
	scale.InstanceManagementPolicy = v1alpha.Parallel
	rollout := &v1alpha.WorkloadRollout{
		ProgressDeadlineSeconds: from.Spec.ProgressDeadlineSeconds, Paused: from.Spec.Paused,
		RevisionHistoryLimit: c.history(from.Spec.RevisionHistoryLimit),
	}
	update := ptr.Deref(from.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
	if from.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		rollout.MaxUnavailable = new(intstr.FromString("100%"))
		withoutSurge(rollout, scale)
	} else {
		rollout.MaxUnavailable = c.maxUnavailable(update.MaxUnavailable, "spec.strategy.rollingUpdate.maxUnavailable")
		rollout.MaxSurge = c.maxSurge(update.MaxSurge)
	}
	c.surge = update.MaxSurge != nil
	c.template(&from.Spec.Template)
	c.rollout(rollout, from.Spec.MinReadySeconds)
	return c
}

// fromStatefulSet converts a StatefulSet to a Workload.
func fromStatefulSet(from *appsv1.StatefulSet, o Options) *conversion {
	c := newConversion("StatefulSet", &from.ObjectMeta, o)
	c.governing = from.Spec.ServiceName
	c.fields(&from.Spec, from.Spec.Template.Spec.Volumes)
	scale := c.scale(from.Spec.Replicas)
	scale.InstanceManagementPolicy = v1alpha.OrderedReady
	c.losef("metadata.name", "Pods are named %s-0 and so on, and Instances %s-0; programs that find their peers by name must be changed",
		from.Name, naming.DeploymentName(c.workload.Name, placement, o.Cities[0]))
	rollout := &v1alpha.WorkloadRollout{RevisionHistoryLimit: c.history(from.Spec.RevisionHistoryLimit)}
	if from.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		scale.InstanceManagementPolicy = v1alpha.Parallel
		// A StatefulSet replaces one Pod at a time by default.
		rollout.MaxUnavailable = new(intstr.FromInt32(1))
	}
	if update := from.Spec.UpdateStrategy.RollingUpdate; update != nil && update.MaxUnavailable != nil {
		rollout.MaxUnavailable = c.maxUnavailable(update.MaxUnavailable, "spec.updateStrategy.rollingUpdate.maxUnavailable")
	}
	withoutSurge(rollout, scale)
	c.template(&from.Spec.Template)
	c.rollout(rollout, from.Spec.MinReadySeconds)
	return c
}

// withoutSurge leaves a single Instance alone while it is replaced: its Pods never ran beside each other.
func withoutSurge(rollout *v1alpha.WorkloadRollout, scale *v1alpha.HorizontalScaleSettings) {
	if scale.MinReplicas <= 1 {
		rollout.MaxSurge = new(intstr.FromInt32(0))
	}
}

// conversion is the state of one conversion.
type conversion struct {
	Options
	object   string
	workload *v1alpha.Workload
	losses   []Loss
	// podLabels are the labels of the Pods that it had.
	podLabels map[string]string
	// replicas is spec.replicas of the object.
	replicas *int32
	// graceOf is the grace period of the Instance, in seconds.
	graceOf int64
	// surge: the object has a maxSurge of its own.
	surge bool
	// governing is the Service that gave the Pods their names.
	governing string
	// aliases are the entries that Pods had in /etc/hosts.
	aliases []corev1.HostAlias
	// folders are folders of containers whose files are gone, and leftOut the volumes that alone name a ConfigMap or Secret.
	folders []folder
	leftOut map[identity]string
}

func newConversion(kind string, meta *metav1.ObjectMeta, o Options) *conversion {
	workload := &v1alpha.Workload{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkload}}
	c := &conversion{Options: o, object: kind + " " + meta.Name, workload: workload, leftOut: map[identity]string{}}
	c.metadata(meta)
	return c
}

func (c *conversion) lose(losses ...podfields.Loss) {
	for _, loss := range losses {
		c.losses = append(c.losses, Loss{Object: c.object, Loss: loss})
	}
}

// fields lists the fields of an object that a Workload does not have. The certificates of a cluster are for the service account.
func (c *conversion) fields(spec any, volumes []corev1.Volume) {
	certificates := map[string]bool{}
	for i := range volumes {
		for j, from := range ptr.Deref(volumes[i].Projected, corev1.ProjectedVolumeSource{}).Sources {
			path := fmt.Sprintf("%s.volumes[%d].projected.sources[%d].configMap", podPath, i, j)
			certificates[path] = from.ConfigMap != nil && from.ConfigMap.Name == rootCA
		}
	}
	for _, loss := range podfields.Losses(spec, "spec") {
		if certificates[loss.Path] {
			loss.Why = noIdentity
		}
		c.lose(loss)
	}
}

// losef adds the loss of a field; path "": of the object.
func (c *conversion) losef(path, format string, args ...any) {
	c.lose(podfields.Loss{Path: path, Why: fmt.Sprintf(format, args...)})
}

func (c *conversion) scale(replicas *int32) *v1alpha.HorizontalScaleSettings {
	wanted := ptr.Deref(replicas, 1)
	c.replicas = replicas
	if cities := len(c.Cities); cities > 1 && wanted > 0 {
		c.losef("spec.replicas", "is the number in each of %d cities, %d in all", cities, int(wanted)*cities)
	}
	c.workload.Spec.Placements = []v1alpha.WorkloadPlacement{{
		Name: placement, CityCodes: slices.Clone(c.Cities), ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: wanted},
	}}
	return &c.workload.Spec.Placements[0].ScaleSettings
}

// Bounds of a Workload: the revisions that it keeps, and the seconds of minReadySeconds.
const (
	mostHistory = 50
	maxMinReady = 3600
)

func (c *conversion) history(limit *int32) *int32 {
	if limit == nil || *limit <= mostHistory {
		return limit
	}
	c.losef("spec.revisionHistoryLimit", "is at most %d; the Workload has %d", mostHistory, mostHistory)
	return new(int32(mostHistory))
}

func (c *conversion) maxUnavailable(limit *intstr.IntOrString, path string) *intstr.IntOrString {
	if limit == nil {
		return nil
	}
	if zero := limit.IntValue() == 0 && limit.Type == intstr.Int || limit.StrVal == "0%"; zero {
		c.losef(path, "an Instance is replaced in its place, so that 1 may be unavailable"+withSurge)
		return new(intstr.FromInt32(1))
	}
	return new(*limit)
}

// withSurge ends the loss of a limit where additional Instances run.
const withSurge = "; with maxSurge others run in addition"

// surgePath is the field of maxSurge in a Deployment.
const surgePath = "spec.strategy.rollingUpdate.maxSurge"

// defaultSurge is maxSurge of a Deployment that does not set it.
const defaultSurge = "25%"

// maxSurge returns the additional Instances of a rollout, which a Deployment has if it says nothing: 25%.
func (c *conversion) maxSurge(limit *intstr.IntOrString) *intstr.IntOrString {
	if limit == nil {
		return new(intstr.FromString(defaultSurge))
	}
	if percent, err := intstr.GetScaledValueFromIntOrPercent(limit, 100, true); err == nil && limit.Type == intstr.String && percent > 100 {
		c.losef(surgePath, "is at most 100%%; the Workload has 100%%")
		return new(intstr.FromString("100%"))
	}
	return new(*limit)
}

func (c *conversion) rollout(rollout *v1alpha.WorkloadRollout, minReady int32) {
	minReady = int32(c.atMost(int64(minReady), maxMinReady, "spec.minReadySeconds")) //nolint:gosec // at most the bound
	if minReady > 0 {
		c.workload.Spec.MinReadySeconds = &minReady
	}
	if least := c.startup() + int64(minReady); time.Duration(least)*time.Second >= rollout.ProgressDeadline() {
		const addition = 600
		deadline := int32(min(least+addition, math.MaxInt32)) //nolint:gosec // at most the bound
		if rollout.ProgressDeadlineSeconds != nil {
			c.losef("spec.progressDeadlineSeconds", "is %d here: an Instance may take %d seconds to become Available, and with a shorter deadline "+
				"its rollout counts as failed", deadline, least)
		}
		rollout.ProgressDeadlineSeconds = &deadline
	}
	if !equality.Semantic.DeepEqual(*rollout, v1alpha.WorkloadRollout{}) {
		c.workload.Spec.Rollout = rollout
	}
}

// startup is how long the probes let an Instance start, in seconds: its sidecars one after the other, and then its containers.
func (c *conversion) startup() int64 {
	var before, longest int64
	sandbox := c.workload.Spec.Template.Spec.Runtime.Sandbox
	for i := range sandbox.InitContainers {
		before += startupOf(sandbox.InitContainers[i].StartupProbe)
	}
	for i := range sandbox.Containers {
		container := &sandbox.Containers[i]
		longest = max(longest, startupOf(container.StartupProbe)+int64(ptr.Deref(container.ReadinessProbe, corev1.Probe{}).InitialDelaySeconds))
	}
	return before + longest
}

func startupOf(probe *corev1.Probe) int64 {
	if probe == nil {
		return 0
	}
	// The defaults of Kubernetes.
	period, failures := cmp.Or(probe.PeriodSeconds, 10), cmp.Or(probe.FailureThreshold, 3)
	return int64(probe.InitialDelaySeconds) + int64(period)*int64(failures)
}

// template converts the template of Pods.
func (c *conversion) template(from *corev1.PodTemplateSpec) {
	target := &c.workload.Spec.Template
	c.podLabels = from.Labels
	kept := &metav1.ObjectMeta{Labels: from.Labels, Annotations: from.Annotations}
	for _, loss := range dropTracking(kept) {
		c.lose(podfields.Loss{Path: "spec.template." + loss.Path, Why: loss.Why})
	}
	if len(from.Finalizers) > 0 {
		c.losef("spec.template.metadata.finalizers", "Instances have the finalizers of the add-on alone")
	}
	target.Labels, target.Annotations = kept.Labels, kept.Annotations
	c.marks(kept, "spec.template.metadata", true)
	c.aliases = from.Spec.HostAliases
	target.Spec.Runtime.Resources.InstanceType = c.InstanceType
	target.Spec.NetworkInterfaces = []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: c.Network}}}
	target.Spec.Runtime.Sandbox = c.sandbox(&from.Spec)
	target.Spec.Volumes = c.volumes(from.Spec.Volumes, target.Spec.Runtime.Sandbox)
	c.size(&target.Spec.Runtime)
}
