// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"encoding/json"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

const (
	// projectBytes is the default of --max-project-bytes.
	projectBytes = 40 << 20
	// agentLimit is agents.resources.limits.memory of the chart. A garbage collection is due when the heap has doubled.
	agentLimit = 512 << 20
	// templateBytes is the default of --max-template-bytes.
	templateBytes = 64 << 10
)

// TestMemoryAtTheBound: an agent holds all Instances of a project that uses its maximum, twice over, with their Pods.
func TestMemoryAtTheBound(t *testing.T) {
	const sample = 60
	for name, env := range testenv.Shapes(templateBytes) {
		instance := sandbox(v1alpha.SandboxContainer{Name: "app", Env: env})
		encodedInstance, encodedPod := encode(t, instance), encode(t, desiredPod(instance, &Settings{}))
		cached := make([]any, 0, 2*sample)
		used := testenv.Heap(func() {
			for range sample {
				decoded, pod := &v1alpha.Instance{}, &corev1.Pod{}
				trimmed, err := TrimPod(decode(t, encodedPod, pod))
				if err != nil {
					t.Fatal(err)
				}
				cached = append(cached, decode(t, encodedInstance, decoded), trimmed)
			}
		})
		runtime.KeepAlive(cached)
		perByte := float64(used) / float64(sample*len(encodedInstance))
		atBound := perByte * 2 * projectBytes
		t.Logf("%s: %.2f bytes of heap for each byte of a template: %.0f MiB at twice the bound", name, perByte, atBound/(1<<20))
		if 2*atBound > agentLimit {
			t.Errorf("%s: %.0f MiB at twice the bound, and the limit is %d", name, 2*atBound/(1<<20), agentLimit>>20)
		}
	}
}

func encode(t *testing.T, object any) []byte {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func decode(t *testing.T, encoded []byte, into any) any {
	t.Helper()
	if err := json.Unmarshal(encoded, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// TestTrimPod: what explains the state of a Pod stays.
func TestTrimPod(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	container := corev1.Container{
		Name: "app", Image: "a", Env: []corev1.EnvVar{{Name: "A"}}, Args: []string{"b"}, RestartPolicy: &always,
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 3, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"c"}}}},
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		NodeName: "n", InitContainers: []corev1.Container{container}, Containers: []corev1.Container{container},
		Volumes: []corev1.Volume{{Name: "v"}},
	}}
	pod.Labels, pod.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
	if _, err := TrimPod(pod); err != nil {
		t.Fatal(err)
	}
	if pod.Labels["a"] != "b" || len(pod.Annotations) > 0 || pod.Spec.NodeName != "n" || len(pod.Spec.Volumes) > 0 {
		t.Errorf("the Pod is %+v", pod)
	}
	for _, got := range []corev1.Container{pod.Spec.InitContainers[0], pod.Spec.Containers[0]} {
		if got.Name != "app" || got.Image != "a" || got.RestartPolicy == nil || got.ReadinessProbe.PeriodSeconds != 3 {
			t.Errorf("lost of the container: %+v", got)
		}
		if len(got.Env) > 0 || len(got.Args) > 0 || got.ReadinessProbe.Exec != nil {
			t.Errorf("kept of the container: %+v", got)
		}
	}
}
