// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// report reports the status of the Pod whenever it has changed, until the Pod is removed from the node.
func (p *pod) report(removed <-chan struct{}) {
	for {
		select {
		case <-p.dirty:
			p.node.report(p.reported())
		case <-removed:
			return
		}
	}
}

// correct reports the status of a Pod again when another client has changed its readiness: while a node is
// disconnected, the node lifecycle controller marks its Pods as not ready, and expects the node to correct that.
func (n *node) correct(changed any) {
	object, ok := changed.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	p, known := n.known[object.UID]
	n.mu.Unlock()
	if known && IsReady(object) != IsReady(p.reported()) {
		p.dirty.raise()
	}
}

// IsReady reports whether a Pod is Ready.
func IsReady(object *corev1.Pod) bool {
	return slices.ContainsFunc(object.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// reported returns the Pod from the API, with its status on this node.
func (p *pod) reported() *corev1.Pod {
	object := p.current().DeepCopy()
	if latest, err := p.node.pods.Pods(p.name.Namespace).Get(p.name.Name); err == nil && latest.UID == p.uid {
		// With the changes of other writers: labels, annotations, conditions.
		object = latest.DeepCopy()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	start := metav1.NewTime(p.startTime)
	status := &object.Status
	status.ObservedGeneration = object.Generation
	status.HostIP, status.HostIPs = hostIP, []corev1.HostIP{{IP: hostIP}}
	status.PodIP, status.PodIPs = p.address.Pod, []corev1.PodIP{{IP: p.address.Pod}}
	status.ContainerStatuses = statusesOf(p.containers)
	status.Phase = corev1.PodPending
	if slices.ContainsFunc(p.containers, (*container).begun) {
		status.Phase = corev1.PodRunning
	}
	status.Reason, status.Message = p.problem()
	if status.StartTime == nil {
		status.StartTime = &start
	}
	p.setConditions(object)
	return object
}

func statusesOf(containers []*container) []corev1.ContainerStatus {
	statuses := make([]corev1.ContainerStatus, 0, len(containers))
	for _, c := range containers {
		status := corev1.ContainerStatus{
			Name: c.name, Image: c.spec.Image, ImageID: c.spec.Image, State: c.state, LastTerminationState: c.last,
			Ready: c.ready, RestartCount: c.restartCount,
		}
		started := c.started
		status.Started = &started
		switch {
		case c.state.Running != nil:
			status.ContainerID = containerID(c.pid)
		case c.state.Terminated != nil:
			status.ContainerID = c.state.Terminated.ContainerID
		case c.last.Terminated != nil:
			status.ContainerID = c.last.Terminated.ContainerID
		}
		statuses = append(statuses, status)
	}
	return statuses
}

// begun reports whether the container has had a process.
func (c *container) begun() bool {
	return c.state.Running != nil || c.state.Terminated != nil || c.last.Terminated != nil
}

// problem returns the reason why the Pod cannot start, unless it is a reason of an ordinary start.
func (p *pod) problem() (reason, message string) {
	for _, c := range p.containers {
		if w := c.state.Waiting; w != nil && w.Reason == reasonUnsupported {
			return w.Reason, w.Message
		}
	}
	return "", ""
}

// setConditions sets kubelet's conditions and keeps other conditions.
func (p *pod) setConditions(object *corev1.Pod) {
	var unready []string
	for _, c := range p.containers {
		if !c.ready {
			unready = append(unready, c.name)
		}
	}
	p.condition(object, corev1.PodReadyToStartContainers, "", p.prepared)
	p.condition(object, corev1.PodInitialized, "ContainersNotInitialized", p.prepared)
	ready := len(unready) == 0
	p.condition(object, corev1.ContainersReady, "ContainersNotReady", ready)
	p.condition(object, corev1.PodReady, "ContainersNotReady", ready)
	for i := range object.Status.Conditions {
		c := &object.Status.Conditions[i]
		if c.Reason == "ContainersNotReady" {
			c.Message = "containers with unready status: [" + strings.Join(unready, " ") + "]"
		}
	}
}

// condition sets a condition, and its reason if it is not true. If the status has not changed, it keeps the transition
// time of the last reported condition.
func (p *pod) condition(object *corev1.Pod, kind corev1.PodConditionType, reason string, holds bool) {
	condition := corev1.PodCondition{
		Type: kind, Status: corev1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.Now(), ObservedGeneration: object.Generation,
	}
	if holds {
		condition.Status, condition.Reason = corev1.ConditionTrue, ""
	}
	same := func(c corev1.PodCondition) bool { return c.Type == kind }
	if i := slices.IndexFunc(p.conditions, same); i < 0 {
		p.conditions = append(p.conditions, condition)
	} else {
		if p.conditions[i].Status == condition.Status {
			condition.LastTransitionTime = p.conditions[i].LastTransitionTime
		}
		p.conditions[i] = condition
	}
	if i := slices.IndexFunc(object.Status.Conditions, same); i < 0 {
		object.Status.Conditions = append(object.Status.Conditions, condition)
	} else {
		object.Status.Conditions[i] = condition
	}
}
