// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"flag"
	"fmt"
	"math/rand"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	componentresource "k8s.io/component-helpers/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

var (
	seed      = flag.Int64("seed", 1, "what random Instances are made from")
	instances = flag.Int("instances", 10000, "how many random Instances a property is checked on")
)

func TestPodRequestsTheSizeOfTheInstance(t *testing.T) {
	container := func(limits, requests corev1.ResourceList) v1alpha.SandboxContainer {
		return v1alpha.SandboxContainer{
			Name: "c", Image: "i", Resources: &v1alpha.ContainerResourceRequirements{Limits: limits, Requests: requests},
		}
	}
	tests := map[string]struct {
		containers    []v1alpha.SandboxContainer
		typeResources corev1.ResourceList
		requests      corev1.ResourceList
		want          []corev1.ResourceList
	}{
		"the size of the type": {
			[]v1alpha.SandboxContainer{{}, {}}, list("1", "2Gi"), nil, []corev1.ResourceList{list("999m", "2047Mi"), nil},
		},
		"nothing of the type": {[]v1alpha.SandboxContainer{{}}, nil, nil, []corev1.ResourceList{nil}},
		"the requests before the type": {
			[]v1alpha.SandboxContainer{{}, {}}, list("1", "2Gi"), list("3", ""), []corev1.ResourceList{list("2999m", "2047Mi"), nil},
		},
		"a container with requests": {
			[]v1alpha.SandboxContainer{{}, container(nil, list("100m", "1Gi"))},
			list("1", "2Gi"), nil,
			[]corev1.ResourceList{list("900m", "1Gi"), list("100m", "1Gi")},
		},
		"a container with a limit on one resource": {
			[]v1alpha.SandboxContainer{container(list("500m", ""), nil)},
			list("1", "2Gi"), nil,
			[]corev1.ResourceList{list("500m", "2Gi")},
		},
		"a container with a limit above its request": {
			[]v1alpha.SandboxContainer{container(list("2", ""), list("100m", ""))},
			nil, nil,
			[]corev1.ResourceList{list("2", "")},
		},
		"a container with a limit below its request": {
			[]v1alpha.SandboxContainer{container(list("1", ""), list("2", ""))},
			nil, nil,
			[]corev1.ResourceList{list("1", "")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			instance := sandbox(test.containers...)
			instance.Spec.Runtime.Resources = v1alpha.InstanceRuntimeResources{InstanceType: "any", Requests: test.requests}
			instance.Spec.Controller.InstanceTypeResources = test.typeResources
			before := instance.DeepCopy()
			pod := desiredPod(instance, &Settings{})
			for i, want := range test.want {
				if got := withoutLeast(pod.Spec.Containers[i].Resources.Requests); !equality.Semantic.DeepEqual(got, want) {
					t.Errorf("container %d requests %v, want %v", i, got, want)
				}
			}
			if !equality.Semantic.DeepEqual(before, instance) {
				t.Error("the Instance was changed")
			}
		})
	}
}

// TestARequestIsNoLimit: as in Kubernetes, a container with a request and no limit may take more: what the size of the
// Instance leaves. A limit of zero does not count.
func TestARequestIsNoLimit(t *testing.T) {
	for name, of := range map[string]v1alpha.ContainerResourceRequirements{
		"a request alone": {Requests: list("", "20Mi")}, "a limit of zero": {Requests: list("", "20Mi"), Limits: list("", "0")},
		"a request of zero": {Requests: list("0", "0")},
	} {
		t.Run(name, func(t *testing.T) {
			of.Requests["ephemeral-storage"], of.Limits = resource.Quantity{}, orEmpty(of.Limits)
			of.Limits["ephemeral-storage"] = resource.Quantity{}
			instance := sandbox(v1alpha.SandboxContainer{Name: "c", Image: "i", Resources: &of})
			instance.Spec.Controller.InstanceTypeResources = list("1", "400Mi")
			pod := desiredPod(instance, &Settings{EphemeralStorage: resource.MustParse("1Gi")})
			got := pod.Spec.Containers[0].Resources
			want := corev1.ResourceList{
				"cpu": resource.MustParse("1"), "memory": resource.MustParse("400Mi"), "ephemeral-storage": resource.MustParse("1Gi"),
			}
			if !equality.Semantic.DeepEqual(got.Limits, want) {
				t.Errorf("the container is limited to %v, want %v", got.Limits, want)
			}
			if memory := got.Requests.Memory(); memory.Cmp(resource.MustParse("400Mi")) != 0 {
				t.Errorf("the container requests %s, and the Instance takes 400Mi", memory)
			}
		})
	}
}

// withoutLeast returns the requests other than the least request, which a container without requests gets.
func withoutLeast(list corev1.ResourceList) corev1.ResourceList {
	var result corev1.ResourceList
	for name, quantity := range list {
		if least := leastRequests()[name]; quantity.Cmp(least) > 0 {
			result = orEmpty(result)
			result[name] = quantity
		}
	}
	return result
}

// checkRequested: if no request is set, Kubernetes uses the limit of a resource as the request, which would count it
// twice.
func checkRequested(t *testing.T, resources *corev1.ResourceRequirements) {
	t.Helper()
	for name := range resources.Limits {
		if _, requested := resources.Requests[name]; !requested {
			t.Errorf("a container is limited in %s, and says no request", name)
		}
	}
}

// TestPodsRequestWhatKarmadaReserves on random Instances: the requests of a Pod, as Kubernetes computes them, equal the
// size of the Instance, and Kubernetes accepts the Pod.
func TestPodsRequestWhatKarmadaReserves(t *testing.T) {
	t.Logf("go test ./cell/runtime -run %s -args -seed %d -instances %d", t.Name(), *seed, *instances)
	random := rand.New(rand.NewSource(*seed))
	for range *instances {
		instance := randomInstance(random)
		size := templates.InstanceSize(&instance.Spec, instance.Spec.Controller.InstanceTypeResources)
		pod := desiredPod(instance, &Settings{})
		checkTogether(t, &pod.Spec)
		for _, container := range podContainers(&pod.Spec) {
			checkResources(t, &container.Resources)
			checkRequested(t, &container.Resources)
			checkBounded(t, &container.Resources)
		}
		requests := componentresource.PodRequests(pod, componentresource.PodResourcesOptions{SkipPodLevelResources: true})
		for name, quantity := range requests {
			rest := size[name].DeepCopy()
			rest.Sub(quantity)
			// A size that is too small to be shared is exceeded by the least requests, and so is one that none of them names;
			// one that the init containers need may lack a least request.
			least := leastRequests()[name].DeepCopy()
			least.Mul(int64(len(podContainers(&pod.Spec))))
			if rest.Sign() < 0 {
				rest.Neg()
			}
			of := size[name]
			small := least.DeepCopy()
			small.Mul(2)
			if exact := len(pod.Spec.InitContainers) == 0 && of.Cmp(small) >= 0; exact && !rest.IsZero() || rest.Cmp(least) > 0 {
				t.Errorf("of %s the Pod requests %s, and the Instance takes %s", name, quantity.String(), of.String())
			}
		}
		if t.Failed() {
			t.Fatalf("spec %+v", instance.Spec.Runtime)
		}
	}
}

// checkTogether: Kubernetes refuses a Pod that is limited to less than its containers request together.
func checkTogether(t *testing.T, pod *corev1.PodSpec) {
	t.Helper()
	if pod.Resources == nil {
		return
	}
	together := componentresource.PodRequests(&corev1.Pod{Spec: *pod}, componentresource.PodResourcesOptions{SkipPodLevelResources: true})
	for name, limit := range pod.Resources.Limits {
		if sum := together[name]; sum.Cmp(limit) > 0 {
			t.Errorf("the containers request %s of %s together, and are limited to %s", sum.String(), name, limit.String())
		}
		for _, container := range podContainers(pod) {
			if own := container.Resources.Limits[name]; own.Cmp(limit) > 0 {
				t.Errorf("container %s is limited to %s of %s, and the Pod to %s", container.Name, own.String(), name, limit.String())
			}
		}
	}
}

// checkBounded: a container without a limit could take all of its node, and one without a request is evicted first.
func checkBounded(t *testing.T, resources *corev1.ResourceRequirements) {
	t.Helper()
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit, request := resources.Limits[name], resources.Requests[name]
		if limit.Sign() <= 0 || request.Sign() <= 0 {
			t.Errorf("a container requests %s of %s and is limited to %s", request.String(), name, limit.String())
		}
	}
}

// checkResources has the rules of Kubernetes for the resources of a container.
func checkResources(t *testing.T, resources *corev1.ResourceRequirements) {
	t.Helper()
	for name, request := range resources.Requests {
		limit, limited := resources.Limits[name]
		switch {
		case limited && request.Cmp(limit) > 0:
			t.Errorf("a container requests %s of %s, more than its limit %s", request.String(), name, limit.String())
		case name == "example.com/gpu" && (!limited || request.Cmp(limit) != 0):
			t.Errorf("a container requests %s of %s and limits it to %s: they must be equal", request.String(), name, limit.String())
		}
	}
}

// randomInstance names few resources, so that containers, Instance and type often name the same.
func randomInstance(random *rand.Rand) *v1alpha.Instance {
	var containers, init []v1alpha.SandboxContainer
	for i := range 1 + random.Intn(4) {
		containers = append(containers, randomContainer(random, fmt.Sprint("c", i)))
	}
	for i := range max(0, random.Intn(6)-2) {
		container := randomContainer(random, fmt.Sprint("i", i))
		if random.Intn(2) == 0 {
			container.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		init = append(init, container)
	}
	instance := sandbox(containers...)
	instance.Spec.Runtime.Sandbox.InitContainers = init
	instance.Spec.Controller.InstanceTypeResources = randomList(random)
	instance.Spec.Runtime.Resources.Requests = randomList(random)
	return instance
}

func randomContainer(random *rand.Rand, name string) v1alpha.SandboxContainer {
	container := v1alpha.SandboxContainer{Name: name, Image: "example.com/app"}
	if random.Intn(3) > 0 {
		container.Resources = &v1alpha.ContainerResourceRequirements{Limits: randomList(random), Requests: randomList(random)}
	}
	return container
}

func randomList(random *rand.Rand) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "example.com/gpu"} {
		quantities := []string{"0", "1", "2", "3", "4096", "1Gi", "1.5Gi", "1e9", "1536Mi"}
		if name == corev1.ResourceCPU {
			quantities = append(quantities, "100m", "1500m", "0.3")
		}
		if random.Intn(2) == 0 {
			list[name] = resource.MustParse(quantities[random.Intn(len(quantities))])
		}
	}
	return list
}
