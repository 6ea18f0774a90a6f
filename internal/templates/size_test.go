// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"flag"
	"fmt"
	"math/rand"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

var (
	seed  = flag.Int64("seed", 1, "what random specs are made from")
	specs = flag.Int("specs", 10000, "how many random specs a property is checked on")
)

// resources are a list of quantities, by pairs of name and quantity.
func resources(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func sized(limits, requests corev1.ResourceList) v1alpha.SandboxContainer {
	return v1alpha.SandboxContainer{Resources: &v1alpha.ContainerResourceRequirements{Limits: limits, Requests: requests}}
}

func TestSize(t *testing.T) {
	silent := v1alpha.SandboxContainer{}
	cpu := func(quantity string) v1alpha.SandboxContainer { return sized(resources("cpu", quantity), nil) }
	tests := map[string]struct {
		containers     []v1alpha.SandboxContainer
		typeResources  corev1.ResourceList
		requests       corev1.ResourceList
		want           corev1.ResourceList
		wantContainers []corev1.ResourceList
	}{
		"nothing is known": {
			containers: []v1alpha.SandboxContainer{silent},
			want:       nil, wantContainers: []corev1.ResourceList{nil},
		},
		"the instance type": {
			containers: []v1alpha.SandboxContainer{silent, silent}, typeResources: resources("cpu", "1", "memory", "2Gi"),
			want: resources("cpu", "1", "memory", "2Gi"), wantContainers: []corev1.ResourceList{resources("cpu", "1", "memory", "2Gi"), nil},
		},
		"what the Instance requests, else the type": {
			containers: []v1alpha.SandboxContainer{silent}, typeResources: resources("cpu", "1", "memory", "2Gi"), requests: resources("cpu", "3"),
			want: resources("cpu", "3", "memory", "2Gi"), wantContainers: []corev1.ResourceList{resources("cpu", "3", "memory", "2Gi")},
		},
		"the containers before all else, also where they take less": {
			containers: []v1alpha.SandboxContainer{cpu("250m"), cpu("250m")},
			requests:   resources("cpu", "3"),
			want:       resources("cpu", "500m"), wantContainers: []corev1.ResourceList{resources("cpu", "250m"), resources("cpu", "250m")},
		},
		"a limit before a request": {
			containers: []v1alpha.SandboxContainer{sized(resources("cpu", "2"), resources("cpu", "100m"))},
			want:       resources("cpu", "2"), wantContainers: []corev1.ResourceList{resources("cpu", "2")},
		},
		"a limit that is less than the request": {
			containers: []v1alpha.SandboxContainer{sized(resources("cpu", "1"), resources("cpu", "2"))},
			want:       resources("cpu", "1"), wantContainers: []corev1.ResourceList{resources("cpu", "1")},
		},
		"the rest goes to the first container that does not name the resource": {
			containers: []v1alpha.SandboxContainer{cpu("250m"), silent, silent}, typeResources: resources("cpu", "1", "memory", "2Gi"),
			want:           resources("cpu", "1", "memory", "2Gi"),
			wantContainers: []corev1.ResourceList{resources("cpu", "250m", "memory", "2Gi"), resources("cpu", "750m"), nil},
		},
		"containers that take more than the Instance requests": {
			containers:    []v1alpha.SandboxContainer{cpu("2"), silent, cpu("500m")},
			typeResources: resources("cpu", "1", "memory", "2Gi"), requests: resources("cpu", "1500m", "memory", "1Gi"),
			want:           resources("cpu", "2500m", "memory", "1Gi"),
			wantContainers: []corev1.ResourceList{resources("cpu", "2", "memory", "1Gi"), nil, resources("cpu", "500m")},
		},
		"a resource that one container alone names": {
			containers: []v1alpha.SandboxContainer{silent, sized(nil, resources("example.com/gpu", "1"))},
			want:       resources("example.com/gpu", "1"), wantContainers: []corev1.ResourceList{nil, resources("example.com/gpu", "1")},
		},
		"a request is no limit: the container has the rest of the type, too": {
			containers: []v1alpha.SandboxContainer{sized(nil, resources("memory", "20Mi"))}, typeResources: resources("cpu", "1", "memory", "400Mi"),
			want: resources("cpu", "1", "memory", "400Mi"), wantContainers: []corev1.ResourceList{resources("cpu", "1", "memory", "400Mi")},
		},
		"the rest goes to the first of several without a limit": {
			containers: []v1alpha.SandboxContainer{
				sized(resources("memory", "100Mi"), nil), sized(nil, resources("memory", "20Mi")), sized(nil, resources("memory", "30Mi")),
			},
			typeResources:  resources("memory", "400Mi"),
			want:           resources("memory", "400Mi"),
			wantContainers: []corev1.ResourceList{resources("memory", "100Mi"), resources("memory", "270Mi"), resources("memory", "30Mi")},
		},
		"requests that are more than the type": {
			containers: []v1alpha.SandboxContainer{sized(nil, resources("cpu", "3"))}, typeResources: resources("cpu", "1"),
			want: resources("cpu", "3"), wantContainers: []corev1.ResourceList{resources("cpu", "3")},
		},
		"an amount of zero does not count": {
			containers:    []v1alpha.SandboxContainer{sized(resources("cpu", "0", "example.com/gpu", "0"), resources("cpu", "250m", "memory", "0"))},
			typeResources: resources("cpu", "1", "memory", "2Gi"),
			want:          resources("cpu", "1", "memory", "2Gi"), wantContainers: []corev1.ResourceList{resources("cpu", "1", "memory", "2Gi")},
		},
		"no sandbox": {typeResources: resources("cpu", "1", "memory", "2Gi"), want: resources("cpu", "1", "memory", "2Gi")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{
				Resources: v1alpha.InstanceRuntimeResources{InstanceType: "any", Requests: test.requests},
			}}
			if test.containers != nil {
				spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: test.containers}
			}
			if got := templates.InstanceSize(spec, test.typeResources); !equality.Semantic.DeepEqual(got, test.want) {
				t.Errorf("the Instance takes %v, want %v", got, test.want)
			}
			if got := templates.ContainersSize(spec, test.typeResources); !equality.Semantic.DeepEqual(got, test.wantContainers) {
				t.Errorf("containers take %v, want %v", got, test.wantContainers)
			}
		})
	}
}

// TestContainersAddUpToTheInstance on random specs: no container takes more than its limit or less than its request,
// and together they take the size of the Instance.
func TestContainersAddUpToTheInstance(t *testing.T) {
	t.Logf("go test ./api/v1alpha -run %s -args -seed %d -specs %d", t.Name(), *seed, *specs)
	random := rand.New(rand.NewSource(*seed))
	for range *specs {
		spec, typeResources := randomSpec(random), randomList(random)
		before, typeBefore := spec.DeepCopy(), typeResources.DeepCopy()
		left := templates.InstanceSize(spec, typeResources)
		for i, size := range templates.ContainersSize(spec, typeResources) {
			checkContainer(t, &spec.Runtime.Sandbox.Containers[i], size)
			for name, quantity := range size {
				rest := left[name]
				rest.Sub(quantity)
				left[name] = rest
			}
		}
		for name, rest := range left {
			if !rest.IsZero() {
				t.Errorf("of %s the containers do not take what the Instance does: %s is left", name, rest.String())
			}
		}
		if !equality.Semantic.DeepEqual(before, spec) || !equality.Semantic.DeepEqual(typeBefore, typeResources) {
			t.Error("the spec or the resources of the type were changed")
		}
		if t.Failed() {
			t.Fatalf("spec %+v", spec.Runtime)
		}
	}
}

func checkContainer(t *testing.T, container *v1alpha.SandboxContainer, size corev1.ResourceList) {
	t.Helper()
	if container.Resources == nil {
		return
	}
	for name, limit := range container.Resources.Limits {
		if got := size[name]; !limit.IsZero() && got.Cmp(limit) != 0 {
			t.Errorf("a container takes %s of %s, its limit is %s", got.String(), name, limit.String())
		}
	}
	for name, request := range container.Resources.Requests {
		if limit := container.Resources.Limits[name]; !limit.IsZero() {
			continue
		}
		if got := size[name]; got.Cmp(request) < 0 {
			t.Errorf("a container takes %s of %s, it requests %s", got.String(), name, request.String())
		}
	}
}

// randomSpec names few resources, so that containers, Instance and type often name the same.
func randomSpec(random *rand.Rand) *v1alpha.InstanceSpec {
	spec := &v1alpha.InstanceSpec{}
	spec.Runtime.Resources.Requests = randomList(random)
	spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{}
	for i := range 1 + random.Intn(4) {
		one := v1alpha.SandboxContainer{Name: fmt.Sprint("c", i)}
		if random.Intn(3) > 0 {
			one = sized(randomList(random), randomList(random))
		}
		spec.Runtime.Sandbox.Containers = append(spec.Runtime.Sandbox.Containers, one)
	}
	return spec
}

func randomList(random *rand.Rand) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "example.com/gpu"} {
		quantities := []string{
			"0", "1", "2", "3", "100m", "1500m", "0.3", "1Gi", "1.5Gi", "1e9", "1536Mi", "0.1Ki", "9223372036854775807", "1e20",
		}
		if random.Intn(2) == 0 {
			list[name] = resource.MustParse(quantities[random.Intn(len(quantities))])
		}
	}
	return list
}

// TestSizeWithInitContainers: as Kubernetes counts them, a sidecar adds to the sum, and another init container is the
// least that the Instance takes, with the sidecars before it.
func TestSizeWithInitContainers(t *testing.T) {
	cpu := func(quantity string) v1alpha.SandboxContainer { return sized(resources("cpu", quantity), nil) }
	sidecar := func(container v1alpha.SandboxContainer) v1alpha.SandboxContainer {
		container.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		return container
	}
	silent := v1alpha.SandboxContainer{}
	type list = []v1alpha.SandboxContainer
	tests := map[string]struct {
		containers, init list
		ofType           corev1.ResourceList
		want             corev1.ResourceList
		wantContainers   []corev1.ResourceList
	}{
		"an init container that takes less": {
			list{cpu("1")}, list{cpu("500m")}, nil, resources("cpu", "1"), []corev1.ResourceList{resources("cpu", "1")},
		},
		"an init container that takes more": {
			list{cpu("1")}, list{cpu("2"), cpu("1500m")}, nil, resources("cpu", "2"), []corev1.ResourceList{resources("cpu", "1")},
		},
		"an init container alone names it": {
			list{silent}, list{cpu("2")}, nil, resources("cpu", "2"), []corev1.ResourceList{resources("cpu", "2")},
		},
		"one above the type": {
			list{silent}, list{cpu("2")}, resources("cpu", "1"), resources("cpu", "2"), []corev1.ResourceList{resources("cpu", "2")},
		},
		"one below the type": {
			list{silent}, list{cpu("500m")}, resources("cpu", "1"), resources("cpu", "1"), []corev1.ResourceList{resources("cpu", "1")},
		},
		"a sidecar": {
			list{cpu("1")}, list{sidecar(cpu("250m"))}, nil, resources("cpu", "1250m"), []corev1.ResourceList{resources("cpu", "1")},
		},
		"a sidecar beside one that is silent": {
			list{silent}, list{sidecar(cpu("250m"))}, resources("cpu", "1"), resources("cpu", "1"), []corev1.ResourceList{resources("cpu", "750m")},
		},
		"a silent sidecar takes nothing": {
			list{cpu("250m")},
			list{sidecar(silent)},
			resources("cpu", "1"), resources("cpu", "250m"),
			[]corev1.ResourceList{resources("cpu", "250m")},
		},
		"an init container after a sidecar": {
			list{cpu("1")}, list{sidecar(cpu("500m")), cpu("2")}, nil, resources("cpu", "2500m"), []corev1.ResourceList{resources("cpu", "1")},
		},
		"an init container before a sidecar": {
			list{cpu("1")}, list{cpu("2"), sidecar(cpu("500m"))}, nil, resources("cpu", "2"), []corev1.ResourceList{resources("cpu", "1")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &v1alpha.InstanceSpec{}
			spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: test.containers, InitContainers: test.init}
			if got := templates.InstanceSize(spec, test.ofType); !equality.Semantic.DeepEqual(got, test.want) {
				t.Errorf("the Instance takes %v, want %v", got, test.want)
			}
			if got := templates.ContainersSize(spec, test.ofType); !equality.Semantic.DeepEqual(got, test.wantContainers) {
				t.Errorf("containers take %v, want %v", got, test.wantContainers)
			}
		})
	}
}
