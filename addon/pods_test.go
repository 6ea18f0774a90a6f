// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestPodsThatDoNotStart: enable ends with the reason that Kubernetes has for Pods that do not start.
func TestPodsThatDoNotStart(t *testing.T) {
	waiting := func(reason, message string, last *corev1.ContainerStateTerminated) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: Name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			LastTerminationState: corev1.ContainerState{Terminated: last},
		}}}
	}
	failed := []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota: compute",
	}}
	for name, c := range map[string]struct {
		pod        corev1.PodStatus
		conditions []appsv1.DeploymentCondition
		want       string
	}{
		"no image": {
			waiting("ImagePullBackOff", "Back-off pulling image \"r/karmada-compute:0\"", nil), nil, "ImagePullBackOff: Back-off pulling image",
		},
		"a crash": {
			waiting("CrashLoopBackOff", "back-off 10s", &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}), nil,
			"CrashLoopBackOff: back-off 10s (exit code 2, Error)",
		},
		"no node": {corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available",
		}}}, nil, "Unschedulable: 0/3 nodes are available"},
		"a quota":    {waiting("ContainerCreating", "", nil), failed, "FailedCreate: exceeded quota"},
		"it starts":  {waiting("ContainerCreating", "", nil), nil, "0 of 1 replicas are available)"},
		"no message": {waiting("PodInitializing", "", nil), nil, "not within 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			namespace := testenv.Namespace(t, s, "pods").Name
			labels := map[string]string{"app": Name}
			spec := corev1.PodSpec{Containers: []corev1.Container{{Name: Name, Image: "r/karmada-compute:0"}}}
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "replicas"}, Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
			}}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "replicas-1", Labels: labels}, Spec: spec}
			if err := errors.Join(s.Create(t.Context(), d), s.Create(t.Context(), pod)); err != nil {
				t.Fatal(err)
			}
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, Conditions: c.conditions}
			pod.Status = c.pod
			if err := errors.Join(s.Status().Update(t.Context(), d), s.Status().Update(t.Context(), pod)); err != nil {
				t.Fatal(err)
			}

			host, err := planeOf("the host", testenv.Config(t))
			if err != nil {
				t.Fatal(err)
			}
			run := &session{options: &options{karmada: karmadaOptions{timeout: time.Second}}, out: &s.out, host: host}
			err = run.waitDeployment(t.Context(), reference{"apps/v1", "Deployment", namespace, "replicas"})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "context deadline exceeded") {
				t.Errorf("the error %v does not have %q", err, c.want)
			}
		})
	}
}
