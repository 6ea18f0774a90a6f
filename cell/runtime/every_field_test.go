// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/leaves"
)

// notInPods are the fields of an Instance that no Pod has, each with the reason.
var notInPods = map[string]string{
	"runtime.resources.instanceType":             "the hub records the type's resources in controller.instanceTypeResources",
	"runtime.sandbox.containers[].restartPolicy": "admission refuses it: only an init container has one",
	"runtime.virtualMachine":                     "the cell refuses it by name",
	"volumes[].disk":                             "the cell refuses it by name",
	"networkInterfaces[].name":                   "the cell refuses any other than the sandbox's",
	"networkInterfaces[].network":                "the hub checks that it exists, and cell/isolation keeps networks apart",
	"networkInterfaces[].networkPolicy":          "cell/isolation writes the NetworkPolicy",
	"networkInterfaces[].ipFamilies":             "the cell refuses it by name",
	"networkInterfaces[].addresses":              "the cell refuses it by name",
	"networkInterfaces[].reclaimPolicy":          "the cell refuses it by name",
	"location":                                   "it names the place where the Instance is",
	"controller.templateHash":                    "the Pod has it as a label",
	"controller.schedulingGates":                 "the Pod is created when they are lifted",
}

// TestEveryFieldReachesThePod changes each field of an Instance in turn: the Pod must change with it, unless the list has
// the reason why not.
func TestEveryFieldReachesThePod(t *testing.T) {
	instance := sandbox()
	leaves.Fill(&instance.Spec)
	spec := &instance.Spec
	spec.OnNodeLoss = v1alpha.NodeLossWait
	settings := &Settings{RuntimeClasses: map[string]string{spec.Runtime.Class: "one", spec.Runtime.Class + "x": "two"}, NodeLossAfter: 1}
	for _, container := range spec.Runtime.Sandbox.AllContainers() {
		container.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	}
	pod := desiredPod(instance, settings)
	var without []string
	leaves.Each(spec, func(path string) {
		if equality.Semantic.DeepEqual(desiredPod(instance, settings), pod) {
			without = append(without, path)
		}
	})
	unlisted, stale := leaves.Lost(without, notInPods)
	for _, path := range unlisted {
		t.Errorf("spec.%s does not reach the Pod: copy it in pod_containers.go or pod.go, or say here why not", path)
	}
	for _, path := range stale {
		t.Errorf("spec.%s reaches the Pod: remove its entry", path)
	}
}
