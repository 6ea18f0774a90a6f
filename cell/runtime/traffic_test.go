// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestLeaveFirst: a container of an Instance with a Service runs on while the Instance leaves the Service, within the
// grace period, and its own preStop comes first.
func TestLeaveFirst(t *testing.T) {
	t.Parallel()
	own := &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"stop"}}}
	for name, test := range map[string]struct {
		service   *v1alpha.WorkloadService
		grace     *int64
		lifecycle *corev1.Lifecycle
		want      int64
	}{
		"no service":       {nil, nil, nil, 0},
		"a service":        {&v1alpha.WorkloadService{}, nil, nil, 5},
		"a postStart":      {&v1alpha.WorkloadService{}, nil, &corev1.Lifecycle{PostStart: own}, 5},
		"an own preStop":   {&v1alpha.WorkloadService{}, nil, &corev1.Lifecycle{PreStop: own}, 0},
		"a short grace":    {&v1alpha.WorkloadService{}, new(int64(4)), nil, 2},
		"no grace":         {&v1alpha.WorkloadService{}, new(int64(0)), nil, 0},
		"a grace of one":   {&v1alpha.WorkloadService{}, new(int64(1)), nil, 0},
		"a negative grace": {&v1alpha.WorkloadService{}, new(int64(-7)), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.PodSpec{
				TerminationGracePeriodSeconds: test.grace, Containers: []corev1.Container{{Name: "app", Lifecycle: test.lifecycle}},
			}
			leaveFirst(pod, test.service)
			got := int64(0)
			if l := pod.Containers[0].Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
				got = l.PreStop.Sleep.Seconds
			}
			if got != test.want {
				t.Errorf("%d seconds, want %d", got, test.want)
			}
			if test.lifecycle != nil && pod.Containers[0].Lifecycle.PostStart != test.lifecycle.PostStart {
				t.Error("postStart is lost")
			}
		})
	}
}

// TestOldCellsHaveNoSleep: before 1.30 an API server refuses a Pod with the handler sleep, or drops it without a word. So the Pod
// does not have it there.
func TestOldCellsHaveNoSleep(t *testing.T) {
	t.Parallel()
	for served, want := range map[string]bool{
		"v1.26.0": false, "v1.28.15+k3s1": false, "v1.29.4-eks-036c24b": false, "v1.30.0": true, "v1.35.4": true,
	} {
		settings := Settings{}
		if err := settings.AdaptTo(served); err != nil {
			t.Fatal(err)
		}
		deployment := &v1alpha.WorkloadDeployment{Spec: v1alpha.WorkloadDeploymentSpec{Service: &v1alpha.WorkloadService{}}}
		pod := newPod(deployment, sandbox(v1alpha.SandboxContainer{Name: "app"}), &settings)
		if lifecycle := pod.Spec.Containers[0].Lifecycle; (lifecycle != nil) != want {
			t.Errorf("%s: lifecycle %+v, want a preStop: %t", served, lifecycle, want)
		}
	}
	if err := (&Settings{}).AdaptTo("of today"); err == nil {
		t.Error("a version that cannot be read is taken")
	}
}
