// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"math/rand"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestRuntimeRaces(t *testing.T) {
	tests := map[string]struct {
		// given prepares the namespace, and returns a function that runs before the first write: it may set the UID of a Pod
		// that it creates.
		given       func(*fixture, *types.UID) func()
		wantReady   string
		wantRequeue time.Duration
	}{
		"the Pod was created already": {
			given: func(f *fixture, created *types.UID) func() {
				instance := f.instance(f.deployment(1), 0)
				return func() { *created = f.setPod(f.pod(instance), readyPod("10.0.0.1")).UID }
			},
			wantReady: v1alpha.ReasonAvailable,
		},
		"a finished Pod is gone already": {
			given: func(f *fixture, _ *types.UID) func() {
				pod := f.setPod(f.pod(f.instance(f.deployment(1), 0)), corev1.PodStatus{Phase: corev1.PodFailed})
				f.clock.SetTime(pod.CreationTimestamp.Add(time.Hour))
				return func() { f.remove(pod) }
			},
		},
		"a finished Pod is another one by now, which stays": {
			given: func(f *fixture, created *types.UID) func() {
				instance := f.instance(f.deployment(1), 0)
				pod := f.setPod(f.pod(instance), corev1.PodStatus{Phase: corev1.PodFailed})
				f.clock.SetTime(pod.CreationTimestamp.Add(time.Hour))
				return func() {
					f.remove(pod)
					*created = f.pod(instance).UID
				}
			},
			wantRequeue: time.Second,
		},
		"the Instance is another one by now, and gets no status": {
			given: func(f *fixture, _ *types.UID) func() {
				deployment := f.deployment(1)
				instance := f.instance(deployment, 0, gated("Network"))
				return func() {
					f.remove(instance)
					f.instance(deployment, 0, gated("Network"))
				}
			},
			wantRequeue: time.Second,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			var created types.UID
			racing := f.runtime()
			racing.Client = f.racing(test.given(f, &created))
			if result := f.reconcile(racing, "web-0"); result.RequeueAfter != test.wantRequeue {
				t.Errorf("requeued after %s", result.RequeueAfter)
			}
			if pod := f.storedPod("web-0"); (pod == nil) != (created == "") || pod != nil && pod.UID != created {
				t.Errorf("Pod %+v, want UID %q", pod, created)
			}
			f.wantReady("web-0", test.wantReady)
		})
	}
}

func TestRuntimeWhenThePodThatHadTheNameIsGone(t *testing.T) {
	f := newFixture(t)
	foreign := f.pod(f.instance(f.deployment(1), 0), func(p *corev1.Pod) { p.OwnerReferences, p.Labels = nil, nil })
	late := f.runtime()
	late.APIReader = interceptor.NewClient(f.direct, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			f.remove(foreign)
			return c.Get(ctx, key, obj, opts...)
		},
	})
	if result := f.reconcile(late, "web-0"); result.RequeueAfter != time.Second {
		t.Errorf("requeued after %s", result.RequeueAfter)
	}
	f.wantReady("web-0", "-"+v1alpha.ReasonProvisioning)
}

// TestRuntimePodsAreValid: the kube-apiserver accepts the Pod of every size that a template can have, including limits
// below requests.
func TestRuntimePodsAreValid(t *testing.T) {
	f := newFixture(t)
	deployment := f.deployment(100, parallel)
	random := rand.New(rand.NewSource(1))
	var instances []*v1alpha.Instance
	for i := range 40 {
		instances = append(instances, f.instance(deployment, i, func(i *v1alpha.Instance) { randomSize(random, &i.Spec.Runtime) }))
	}
	f.sync()
	for _, instance := range instances {
		f.reconcileNow(f.runtime(), instance.Name)
		if pod := f.storedPod(instance.Name); pod == nil {
			t.Errorf("no Pod for %+v: %+v", instance.Spec.Runtime, f.storedInstance(instance.Name).Status.Conditions)
		}
	}
}

func randomSize(random *rand.Rand, runtime *v1alpha.InstanceRuntimeSpec) {
	quantities := []string{"0", "1", "2", "3", "2Gi"}
	list := func() corev1.ResourceList {
		result := corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "example.com/gpu"} {
			if random.Intn(2) == 0 {
				result[name] = quantity(quantities[random.Intn(len(quantities))])
			}
		}
		return result
	}
	runtime.Resources.Requests = list()
	for _, name := range []string{"second", "third"} {
		if random.Intn(2) == 0 {
			runtime.Sandbox.Containers = append(runtime.Sandbox.Containers, v1alpha.SandboxContainer{Name: name, Image: "example.com/app"})
		}
	}
	for i := range runtime.Sandbox.Containers {
		if random.Intn(3) > 0 {
			runtime.Sandbox.Containers[i].Resources = &v1alpha.ContainerResourceRequirements{Limits: list(), Requests: list()}
		}
	}
}
