// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// TestStartTime: a Pod of a cell with a start time is ready after it and not before, and ends when it is deleted.
func TestStartTime(t *testing.T) {
	cell := Cell{Name: "dfw", City: "DFW", Nodes: 1, StartTime: 3 * time.Second}
	f := startCellAlone(t, cell, func(*Federation) {})
	config, err := f.Config(planeCell+cell.Name, Admin)
	if err != nil {
		t.Fatal(err)
	}
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default")
	await := func(what string, reached func(*corev1.Pod, error) bool) *corev1.Pod {
		t.Helper()
		var pod *corev1.Pod
		if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
			var err error
			pod, err = pods.Get(ctx, "slow", metav1.GetOptions{})
			return reached(pod, err), nil
		}); err != nil {
			t.Fatalf("%s: %v; the Pod is %+v", what, err, pod)
		}
		return pod
	}
	if _, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "slow"}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "app", Image: "example.com/app"}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := await("it does not become ready", func(pod *corev1.Pod,
		err error,
	) bool {
		return err == nil && conditionOf(pod, corev1.PodReady) != nil
	})
	// Times have the precision of a second.
	scheduled, ready := conditionOf(pod, corev1.PodScheduled), conditionOf(pod, corev1.PodReady)
	if took := ready.LastTransitionTime.Sub(scheduled.LastTransitionTime.Time); took < cell.StartTime-time.Second ||
		pod.Status.PodIP == "" || pod.Status.Phase != corev1.PodRunning {
		t.Errorf("it is ready after %s, in phase %s with address %q", took, pod.Status.Phase, pod.Status.PodIP)
	}
	if err := pods.Delete(t.Context(), "slow", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await("it does not end", func(_ *corev1.Pod, err error) bool { return apierrors.IsNotFound(err) })
}

// conditionOf returns a condition of a Pod if it is True.
func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == kind && condition.Status == corev1.ConditionTrue {
			return condition
		}
	}
	return nil
}
