// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// lapses is how long an Instance that was Ready may be not Ready before it counts as broken: some failures of a probe
// with a short period, on a node that is busy for a moment.
const lapses = 10 * time.Second

// lapse is how much longer an Instance may become Ready again by itself: it has ceased to be Ready since its Pod
// started.
func lapse(instance *v1alpha.Instance, now time.Time) time.Duration {
	ready := meta.FindStatusCondition(owned.Conditions(instance), v1alpha.ConditionReady)
	started := instance.Status.StartTime
	if ready == nil || ready.Status != metav1.ConditionFalse || started == nil || !started.Before(&ready.LastTransitionTime) {
		return 0
	}
	if ready.Reason != v1alpha.ReasonProvisioning && ready.Reason != v1alpha.ReasonProbeFailing {
		return 0
	}
	return max(0, min(lapses, ready.LastTransitionTime.Add(lapses).Sub(now)))
}

// lower returns the lower one of two limits, of which 0 stands for no limit.
func lower(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// newTarget is the target of deployment. known are its templates.
func newTarget(deployment *v1alpha.WorkloadDeployment, known *versions, now time.Time) *target {
	size, indices := templates.SizeOfDeployment(deployment), naming.Desired(deployment)
	return &target{
		name:      deployment.Name,
		indices:   indices,
		hashAt:    func(index int) string { return known.hashAt(deployment, index) },
		kept:      deployment.Spec.Partition.Keeps,
		workload:  string(deployment.Spec.WorkloadRef.UID),
		parallel:  deployment.Spec.ScaleSettings.InstanceManagementPolicy == v1alpha.Parallel,
		suspended: deployment.Spec.Suspended,

		maxUnavailable: deployment.Spec.Rollout.Unavailable(len(indices)),
		batch:          lower(deployment.Spec.Rollout.BatchOf(len(indices)), known.atOnce()),
		held: func(instance *v1alpha.Instance) bool {
			return known.templates != nil && known.templates.AwaitsTurn(deployment, instance)
		},
		sentAtOnce: func(instance *v1alpha.Instance) bool {
			return known.templates != nil && known.templates.IsSentAtOnce(deployment, instance)
		},
		lapse: func(instance *v1alpha.Instance) time.Duration { return lapse(instance, now) },
		startable: func(name string) bool {
			index, _ := naming.InstanceIndex(deployment.Name, name)
			return len(known.missingAt(deployment, index)) == 0 && templates.QuotaGrants(deployment, index, size)
		},
	}
}

// desiredInstance is a new Instance of deployment at an index. Once created, only its scheduling gates change until it
// gets another template.
func desiredInstance(deployment *v1alpha.WorkloadDeployment, index int, hash string) *v1alpha.Instance {
	at, resources := deployment.Spec.TemplateAt(index)
	template := at.DeepCopy()
	instance := &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Name:            naming.InstanceName(deployment.Name, index),
			Namespace:       deployment.Namespace,
			Labels:          naming.InstanceLabels(deployment, index),
			Annotations:     template.Annotations,
			OwnerReferences: []metav1.OwnerReference{deployment.ControllerReference()},
		},
		Spec: template.Spec,
	}
	instance.Spec.Location = &v1alpha.LocationReference{Name: naming.CityLabel(deployment.Spec.CityCode)}
	instance.Spec.Controller = &v1alpha.InstanceController{
		TemplateHash: hash, SchedulingGates: desiredGates(deployment, &template.Spec),
		InstanceTypeResources: resources.DeepCopy(),
	}
	return instance
}

// holdForData sets the gate for data on an Instance. Even optional data may be missing: an Instance waits until an
// earlier project's data is gone.
func holdForData(instance *v1alpha.Instance) {
	gate := v1alpha.SchedulingGate{Name: v1alpha.GateReferencedData}
	if gates := instance.Spec.Controller.SchedulingGates; !slices.Contains(gates, gate) {
		instance.Spec.Controller.SchedulingGates = append(gates, gate)
	}
}

func desiredGates(deployment *v1alpha.WorkloadDeployment, template *v1alpha.InstanceSpec) []v1alpha.SchedulingGate {
	var gates []v1alpha.SchedulingGate
	if deployment.Spec.Quota != nil {
		gates = append(gates, v1alpha.SchedulingGate{Name: v1alpha.GateQuota})
	}
	if networks := deployment.Spec.Networks; networks != nil && !networks.Ready {
		gates = append(gates, v1alpha.SchedulingGate{Name: v1alpha.GateNetwork})
	}
	if needed, _ := templates.DataObjects(template); len(needed) > 0 {
		gates = append(gates, v1alpha.SchedulingGate{Name: v1alpha.GateReferencedData})
	}
	return gates
}
