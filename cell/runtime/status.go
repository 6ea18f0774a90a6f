// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/conditions"
)

// observed is the observed state of an Instance.
type observed struct {
	instance *v1alpha.Instance
	// pod of the Instance; nil when there is none.
	pod *corev1.Pod
	// blocked says why no Pod can be created.
	blocked *finding
}

// desiredStatus is the part of the status of an Instance that this controller writes.
func desiredStatus(seen *observed, stamp conditions.Stamp) v1alpha.InstanceStatus {
	ready, programmed, available := seen.ready(), seen.programmed(), seen.available()
	for _, condition := range []*metav1.Condition{&ready, &programmed, &available} {
		condition.Message = v1alpha.ShortenMessage(condition.Message, v1alpha.MaxMessage)
	}
	status := v1alpha.InstanceStatus{
		Conditions: conditions.Stamped(seen.instance.Status.Conditions, stamp, ready, available, programmed),
	}
	if seen.pod == nil {
		return status
	}
	status.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: seen.instance.TemplateHash()}
	if seen.pod.Status.PodIP != "" {
		status.NetworkInterfaces = make([]v1alpha.InstanceNetworkInterfaceStatus, len(seen.instance.Spec.NetworkInterfaces))
		// A Pod has one network. The cell has no addresses for further interfaces.
		if len(status.NetworkInterfaces) > 0 {
			status.NetworkInterfaces[0].Assignments.NetworkIP = new(seen.pod.Status.PodIP)
		}
	}
	return status
}

// sameStatus says whether an Instance already has the wanted part of its status.
func sameStatus(existing *v1alpha.InstanceStatus, wanted *v1alpha.InstanceStatus) bool {
	return conditions.Include(existing.Conditions, wanted.Conditions) &&
		equality.Semantic.DeepEqual(existing.NetworkInterfaces, wanted.NetworkInterfaces) &&
		equality.Semantic.DeepEqual(existing.Controller, wanted.Controller)
}

func (o *observed) ready() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProvisioning}
	switch {
	case !o.instance.DeletionTimestamp.IsZero():
		condition.Message = "the Instance is being deleted"
	case o.pod != nil:
		trouble := examine(o.pod)
		if trouble == nil {
			condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonAvailable
			condition.Message = "the Pod is ready"
			break
		}
		condition.Reason, condition.Message = trouble.reason, trouble.message
	case len(o.instance.SchedulingGates()) > 0:
		condition.Reason = v1alpha.ReasonSchedulingGatesPresent
		condition.Message = "waiting for scheduling gates: " + gateNames(o.instance)
	case o.blocked != nil:
		condition.Reason, condition.Message = o.blocked.reason, o.blocked.message
	default:
		condition.Message = "the Pod is being created"
	}
	return condition
}

func (o *observed) programmed() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionProgrammed, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonProgrammingInProgress}
	gates := o.instance.SchedulingGates()
	switch {
	case o.pod != nil && o.pod.Spec.NodeName != "":
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonProgrammed
		condition.Message = "the Pod has a node"
	case o.pod != nil:
		condition.Message = "the Pod has no node yet"
	case slices.Contains(gates, v1alpha.SchedulingGate{Name: v1alpha.GateQuota}):
		condition.Reason, condition.Message = v1alpha.ReasonPendingQuota, "waiting for quota"
	case len(gates) > 0:
		condition.Reason, condition.Message = v1alpha.ReasonPendingProgramming, "waiting for scheduling gates: "+gateNames(o.instance)
	case o.blocked != nil && o.blocked.reason == v1alpha.ReasonConfigurationError:
		condition.Reason, condition.Message = o.blocked.reason, o.blocked.message
	default:
		condition.Message = "there is no Pod yet"
	}
	return condition
}

func (o *observed) available() metav1.Condition {
	condition := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonStarting}
	switch {
	case !o.instance.DeletionTimestamp.IsZero():
		condition.Reason = v1alpha.ReasonStopping
	case o.pod != nil && finished(o.pod):
		condition.Reason, condition.Message = v1alpha.ReasonStopped, fmt.Sprintf("the Pod has ended: %s", o.pod.Status.Phase)
	case o.pod != nil && examine(o.pod) == nil:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1alpha.ReasonAvailable
	}
	return condition
}

func gateNames(instance *v1alpha.Instance) string {
	var names []string
	for _, gate := range instance.SchedulingGates() {
		names = append(names, gate.Name)
	}
	return strings.Join(names, ", ")
}
