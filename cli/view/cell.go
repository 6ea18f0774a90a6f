// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// CellOf returns the cell of an Instance and its namespace there, or "" if the user does not reach the hub.
func (s *Snapshot) CellOf(instance string) (cell, namespace string) {
	for i := range s.Deployments {
		d := &s.Deployments[i]
		if _, ok := naming.InstanceIndex(d.Name, instance); ok {
			if onHub := s.Hub[d.Name]; onHub != nil {
				return onHub.Cell(instance), onHub.Namespace
			}
		}
	}
	return "", ""
}

// AddCell adds the objects of an Instance in its cell, from the deployment to the Pod. A cell that cannot be read is a step with
// a finding, not an error.
func (w *Way) AddCell(ctx context.Context, reader client.Reader, cell, namespace string) {
	deployment := ""
	for _, step := range w.Steps {
		if step.Kind == v1alpha.KindWorkloadDeployment {
			deployment = step.Name
		}
	}
	plane := "cell " + cell
	var steps []*Step
	for _, object := range []client.Object{&v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}, &corev1.Pod{}} {
		step := &Step{Plane: plane, Kind: strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1alpha."), "*v1."), Namespace: namespace, Name: w.Name, State: StateOK}
		if step.Kind == v1alpha.KindWorkloadDeployment {
			step.Name = deployment
		}
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: step.Name}, object)
		switch {
		case apierrors.IsNotFound(err):
			step.State = StateMissing
		case err != nil:
			step.State = StateHidden
			step.Finding = &Finding{Reason: "CellNotRead", Message: err.Error(), Warning: true}
		default:
			step.look(object, w.now)
		}
		steps = append(steps, step)
		if step.State == StateHidden {
			break
		}
	}
	// The project's Instance comes last: the add-on creates it from the cell's report.
	last := w.Steps[len(w.Steps)-1]
	w.Steps = append(slices.Insert(w.Steps[:len(w.Steps)-1:len(w.Steps)-1], len(w.Steps)-1, steps...), last)
	w.stop(last)
}

// look finds the fault of an object in a cell.
func (s *Step) look(object client.Object, now time.Time) {
	switch object := object.(type) {
	case *v1alpha.WorkloadDeployment:
		node := deploymentNode(object, now)
		s.State, s.Finding = node.State, node.Finding
	case *v1alpha.Instance:
		node := instanceNode(object, now)
		s.State, s.Finding = node.State, node.Finding
	case *corev1.Pod:
		s.State, s.Finding = podState(object)
	}
}

// podState returns the state of a Pod as kubectl get shows it: ready, or why not.
func podState(pod *corev1.Pod) (string, *Finding) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return StateReady, nil
		}
	}
	found := &Finding{Condition: string(corev1.PodReady), Reason: string(pod.Status.Phase), Message: pod.Status.Message}
	for _, c := range pod.Status.Conditions {
		if c.Status == corev1.ConditionTrue || c.Reason == "" {
			continue
		}
		if c.Type == corev1.PodScheduled || c.Type == corev1.PodReady {
			found.Condition, found.Reason, found.Message, found.Since = string(c.Type), c.Reason, c.Message, since(c.LastTransitionTime)
			break
		}
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := status.State.Waiting; waiting != nil {
			found.Reason, found.Message = waiting.Reason, strings.TrimSpace("container "+status.Name+": "+waiting.Message)
			break
		}
	}
	return StateNotReady, found
}

func since(at metav1.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
