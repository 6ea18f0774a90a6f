// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// suspendedMessage is the message of an Instance that is stopped because its project is suspended.
const suspendedMessage = "the project is suspended; the Instance starts again when it is resumed"

// stoppedMessage is the message of an Instance that is replaced in place.
const stoppedMessage = "the Pod of the earlier template is being stopped"

// observed is the observed state of an Instance.
type observed struct {
	instance *v1alpha.Instance
	// pod of the Instance; nil without a Pod.
	pod *corev1.Pod
	// suspended reports that the project of the Instance is suspended.
	suspended bool
	// blocked is the reason why no Pod can be created.
	blocked *finding
	// found are the conditions of the requirements that the Instance waits for before it starts.
	found []metav1.Condition
	// probeError is why a probe of the Pod fails, in the words of its node.
	probeError string
	// started is the data that the Pod was started with.
	started startedData
	// minReady is how long the Pod must be ready before the Instance is Available.
	minReady time.Duration
	// now is the time of the observation.
	now time.Time
}

// desiredStatus is the part of the status of an Instance that this controller writes.
func desiredStatus(seen *observed, stamp apply.Stamp) v1alpha.InstanceStatus {
	seen.now = stamp.Now
	ready, programmed, available := seen.ready(), seen.programmed(), seen.available()
	for _, condition := range []*metav1.Condition{&ready, &programmed, &available} {
		condition.Message = reasons.Shorten(condition.Message, v1alpha.MaxMessage)
	}
	status := v1alpha.InstanceStatus{
		// An Instance that was replaced in place is Ready since its Pod is, not since the Pod before was.
		Conditions: apply.StampedConditions(owned.Conditions(seen.instance), stamp,
			slices.Concat([]metav1.Condition{ready, available, programmed}, seen.found, seen.started.conditions())...),
	}
	if seen.pod == nil {
		return status
	}
	status.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: seen.podTemplate(), DataHash: seen.started.hash}
	status.StartTime, status.Containers = seen.pod.Status.StartTime, containerStatuses(seen.pod)
	for i := range status.Containers {
		status.Restarts += status.Containers[i].RestartCount
	}
	if seen.pod.Status.PodIP != "" {
		status.NetworkInterfaces = make([]v1alpha.InstanceNetworkInterfaceStatus, len(seen.instance.Spec.NetworkInterfaces))
		// A Pod has one network. The cell has no addresses for further interfaces.
		if len(status.NetworkInterfaces) > 0 {
			status.NetworkInterfaces[0].Assignments.NetworkIP = new(seen.pod.Status.PodIP)
		}
	}
	return status
}

// sameStatus reports whether an Instance already has the wanted part of its status.
func sameStatus(existing *v1alpha.InstanceStatus, wanted *v1alpha.InstanceStatus) bool {
	waits := func(conditions []metav1.Condition) bool {
		return meta.FindStatusCondition(conditions, v1alpha.ConditionDataCurrent) != nil
	}
	return apply.IncludeConditions(existing.Conditions, wanted.Conditions) && waits(existing.Conditions) == waits(wanted.Conditions) &&
		equality.Semantic.DeepEqual(existing.NetworkInterfaces, wanted.NetworkInterfaces) &&
		equality.Semantic.DeepEqual(existing.Controller, wanted.Controller) &&
		equality.Semantic.DeepEqual(existing.StartTime, wanted.StartTime) && existing.Restarts == wanted.Restarts &&
		equality.Semantic.DeepEqual(existing.Containers, wanted.Containers)
}

// conditionOf returns a condition: True with the reason and message of fine, or False with the reason and message of
// found.
func conditionOf(conditionType string, found *finding, fine finding) metav1.Condition {
	if found == nil {
		return metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: fine.reason, Message: fine.message}
	}
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: found.reason, Message: found.message}
}

func (o *observed) ready() metav1.Condition {
	found := o.withdrawn()
	switch {
	case found != nil:
	case o.pod != nil:
		found = o.explainProbe(examine(o.pod, o.now))
	default:
		found = o.awaited()
	}
	return conditionOf(v1alpha.ConditionReady, found, finding{v1alpha.ReasonAvailable, "the Pod is ready"})
}

// withdrawn returns why an Instance is not Ready, whatever its Pod is like; nil: the Pod decides.
func (o *observed) withdrawn() *finding {
	lost := o.lost()
	switch {
	case !o.instance.DeletionTimestamp.IsZero() && lost != nil:
		return &finding{lost.reason, "the Instance is being deleted; " + lost.message}
	case !o.instance.DeletionTimestamp.IsZero():
		return &finding{v1alpha.ReasonProvisioning, "the Instance is being deleted"}
	case o.suspended && lost != nil:
		return &finding{v1alpha.ReasonProjectSuspended, "the project is suspended; " + lost.message}
	case o.suspended && o.pod != nil:
		return &finding{v1alpha.ReasonProjectSuspended, "the project is suspended; the Pod is being stopped"}
	case o.suspended:
		return &finding{v1alpha.ReasonProjectSuspended, suspendedMessage}
	case o.earlier() && lost == nil:
		return &finding{v1alpha.ReasonProvisioning, stoppedMessage}
	}
	return nil
}

// awaited returns what the creation of the Pod waits for.
func (o *observed) awaited() *finding {
	switch {
	case len(o.instance.SchedulingGates()) > 0:
		return &finding{v1alpha.ReasonSchedulingGatesPresent, o.waitingForGates()}
	case o.blocked != nil:
		return o.blocked
	}
	return &finding{v1alpha.ReasonProvisioning, "the Pod is being created"}
}

// explainProbe adds the node's message to a probe that fails. found may be nil.
func (o *observed) explainProbe(found *finding) *finding {
	if found == nil || found.reason != v1alpha.ReasonProbeFailing {
		return found
	}
	return &finding{found.reason, withDetail(found.message, o.probeError)}
}

// podTemplate is the hash of the template of the Pod. Pods of an early version have no label: they have the template of
// their Instance, which is replaced in place only with a label.
func (o *observed) podTemplate() string {
	if hash := o.pod.Labels[v1alpha.LabelTemplateHash]; hash != "" {
		return hash
	}
	return o.instance.TemplateHash()
}

// earlier reports whether the Pod has the template that the Instance had before it was replaced in place.
func (o *observed) earlier() bool {
	return o.pod != nil && o.podTemplate() != o.instance.TemplateHash()
}

// lost returns a finding if the node of the Pod is lost; nil without a Pod.
func (o *observed) lost() *finding {
	if o.pod == nil {
		return nil
	}
	return examineNode(o.pod, o.now)
}

func (o *observed) programmed() metav1.Condition {
	found := &finding{v1alpha.ReasonProgrammingInProgress, stoppedMessage}
	switch {
	case o.earlier():
	case o.pod != nil:
		found = o.placed()
	default:
		found = o.unprogrammed()
	}
	return conditionOf(v1alpha.ConditionProgrammed, found, finding{v1alpha.ReasonProgrammed, "the Pod has a node"})
}

// placed returns why a Pod is not Programmed; nil: it is.
func (o *observed) placed() *finding {
	ignored := notHonoured(&o.instance.Spec)
	switch {
	case o.pod.Spec.NodeName == "":
		return &finding{v1alpha.ReasonProgrammingInProgress, unscheduled(o.pod)}
	case ignored != "":
		return &finding{v1alpha.ReasonFieldsNotHonoured, ignored}
	}
	return nil
}

// unprogrammed returns why an Instance has no Pod.
func (o *observed) unprogrammed() *finding {
	gates := o.instance.SchedulingGates()
	switch {
	case o.suspended:
		return &finding{v1alpha.ReasonProjectSuspended, suspendedMessage}
	case slices.Contains(gates, v1alpha.SchedulingGate{Name: v1alpha.GateQuota}):
		return &finding{v1alpha.ReasonPendingQuota, o.waitingForGates()}
	case len(gates) > 0:
		return &finding{v1alpha.ReasonPendingProgramming, o.waitingForGates()}
	case o.blocked != nil && o.blocked.reason != v1alpha.ReasonProvisioning:
		return o.blocked
	}
	return &finding{v1alpha.ReasonProgrammingInProgress, "there is no Pod yet"}
}

func (o *observed) available() metav1.Condition {
	found := o.stopping()
	switch {
	case found != nil:
	case o.pod == nil || examine(o.pod, o.now) != nil:
		found = &finding{v1alpha.ReasonStarting, ""}
	case o.untilAvailable() > 0:
		found = &finding{
			v1alpha.ReasonStarting,
			fmt.Sprintf("the Pod is ready; the Instance is Available when it has been ready for %s", o.minReady),
		}
	}
	if clock := o.clockOff(); found != nil && clock != "" && o.untilAvailable() > 0 {
		found.message += "; " + clock
	}
	return conditionOf(v1alpha.ConditionAvailable, found, finding{v1alpha.ReasonAvailable, o.clockOff()})
}

// clockOff describes the clock of the Pod's node, if it is off; "": it is not.
func (o *observed) clockOff() string {
	if o.pod == nil || podCondition(o.pod, corev1.PodReady).Status != corev1.ConditionTrue {
		return ""
	}
	skew := owned.ReadinessOf(o.instance, o.pod, o.now).Skew
	direction := "ahead"
	switch {
	case skew == 0:
		return ""
	case skew < 0:
		direction = "behind"
	}
	return fmt.Sprintf("the clock of node %s is %s %s, so that the agent counts from when it saw the Pod ready; correct the clock",
		o.pod.Spec.NodeName, skew.Abs(), direction)
}

// stopping returns why an Instance stops, or has stopped; nil: it starts or runs.
func (o *observed) stopping() *finding {
	switch {
	case !o.instance.DeletionTimestamp.IsZero():
		return &finding{v1alpha.ReasonStopping, ""}
	case o.suspended && o.pod != nil:
		return &finding{v1alpha.ReasonStopping, "the project is suspended"}
	case o.suspended:
		// It confirms that no container of the Instance runs any more.
		return &finding{v1alpha.ReasonProjectSuspended, suspendedMessage}
	case o.earlier():
		return &finding{v1alpha.ReasonStopping, stoppedMessage}
	case o.pod != nil && finished(o.pod):
		return &finding{v1alpha.ReasonStopped, fmt.Sprintf("the Pod has ended: %s", o.pod.Status.Phase)}
	}
	return nil
}

// untilAvailable is how long the Pod must still be ready before the Instance is Available. It is positive only while
// the Pod is ready.
func (o *observed) untilAvailable() time.Duration {
	if o.pod == nil || o.minReady == 0 {
		return 0
	}
	ready := podCondition(o.pod, corev1.PodReady)
	if ready.Status != corev1.ConditionTrue {
		return 0
	}
	return owned.ReadinessOf(o.instance, o.pod, o.now).Since.Add(o.minReady).Sub(o.now)
}

// waitingForGates names the gates of an Instance, and the reason why quota is not granted.
func (o *observed) waitingForGates() string {
	var names []string
	for _, gate := range o.instance.SchedulingGates() {
		names = append(names, gate.Name)
	}
	message := "waiting for scheduling gates: " + strings.Join(names, ", ")
	quota := meta.FindStatusCondition(o.found, v1alpha.ConditionQuotaGranted)
	if slices.Contains(names, v1alpha.GateQuota) && quota != nil && quota.Status == metav1.ConditionFalse {
		message += fmt.Sprintf("; %s: %s", quota.Reason, quota.Message)
	}
	return message
}
