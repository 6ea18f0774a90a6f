// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func sandbox(containers ...v1alpha.SandboxContainer) *v1alpha.Instance {
	return &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-0", Namespace: "ns-1", UID: "instance-uid",
			Labels: map[string]string{v1alpha.LabelDeploymentName: "web", "app": "web"},
		},
		Spec: v1alpha.InstanceSpec{
			Runtime: v1alpha.InstanceRuntimeSpec{
				Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud/d1-standard-2"},
				Sandbox:   &v1alpha.SandboxRuntime{Containers: containers, ImagePullSecrets: []v1alpha.ImagePullSecretReference{{Name: "pull"}}},
			},
			NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
			Controller:        &v1alpha.InstanceController{TemplateHash: "hash", InstanceTypeResources: list("1", "2Gi")},
		},
	}
}

func list(cpu, memory string) corev1.ResourceList {
	result := corev1.ResourceList{}
	if cpu != "" {
		result[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		result[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return result
}

func TestDesiredPod(t *testing.T) {
	udp := corev1.ProtocolUDP
	instance := sandbox(v1alpha.SandboxContainer{
		Name: "app", Image: "nginx", Command: []string{"run"}, Args: []string{"-x"}, Env: []corev1.EnvVar{{Name: "A", Value: "b"}},
		EnvFrom:           []corev1.EnvFromSource{{Prefix: "B_"}},
		Ports:             []v1alpha.NamedPort{{Name: "web", Port: 80}, {Name: "name-of-more-than-15", Port: 53, Protocol: &udp}},
		VolumeAttachments: []v1alpha.VolumeAttachment{{Name: "config", MountPath: new("/etc/config")}, {Name: "key", MountPath: new("/etc/key")}},
	})
	configMap := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}
	secret := &corev1.SecretVolumeSource{SecretName: "s"}
	instance.Spec.Volumes = []v1alpha.InstanceVolume{
		{Name: "config", InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: configMap}},
		{Name: "key", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: secret}},
	}
	pod := desiredPod(instance, &Settings{})
	if !metav1.IsControlledBy(pod, instance) || !*pod.OwnerReferences[0].BlockOwnerDeletion {
		t.Errorf("owners %+v", pod.OwnerReferences)
	}
	if pod.Name != "web-0" || pod.Namespace != "ns-1" || pod.Labels["app"] != "web" {
		t.Errorf("metadata %+v", pod.ObjectMeta)
	}
	want := corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "app", Image: "nginx", Command: []string{"run"}, Args: []string{"-x"}, Env: []corev1.EnvVar{{Name: "A", Value: "b"}},
			EnvFrom:      []corev1.EnvFromSource{{Prefix: "B_"}},
			Ports:        []corev1.ContainerPort{{Name: "web", ContainerPort: 80, Protocol: "TCP"}, {ContainerPort: 53, Protocol: "UDP"}},
			VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}, {Name: "key", MountPath: "/etc/key"}},
			Resources:    corev1.ResourceRequirements{Requests: list("1", "2Gi"), Limits: list("1", "2Gi")},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: configMap}},
			{Name: "key", VolumeSource: corev1.VolumeSource{Secret: secret}},
		},
		SecurityContext:              &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: "RuntimeDefault"}},
		ImagePullSecrets:             []corev1.LocalObjectReference{{Name: "pull"}},
		RestartPolicy:                corev1.RestartPolicyAlways,
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		Tolerations:                  pod.Spec.Tolerations,
		TopologySpreadConstraints:    pod.Spec.TopologySpreadConstraints,
	}
	if !equality.Semantic.DeepEqual(pod.Spec, want) {
		t.Errorf("spec %+v\nwant %+v", pod.Spec, want)
	}
	instance.Labels = nil
	if desiredPod(instance, &Settings{}).Labels[v1alpha.LabelDeploymentName] == "" {
		t.Error("a Pod without the label is not in the cache")
	}
}

func TestUnsupported(t *testing.T) {
	disk := sandbox(v1alpha.SandboxContainer{})
	disk.Spec.Volumes = []v1alpha.InstanceVolume{
		{Name: "data", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Disk: &v1alpha.DiskVolumeSource{}}},
	}
	machine := sandbox()
	machine.Spec.Runtime.Sandbox = nil
	machine.Spec.Runtime.VirtualMachine = &v1alpha.VirtualMachineRuntime{}
	isolated, unknown := sandbox(v1alpha.SandboxContainer{}), sandbox(v1alpha.SandboxContainer{})
	isolated.Spec.Runtime.Class, unknown.Spec.Runtime.Class = "isolated", "other"
	face := func(change func(*v1alpha.InstanceNetworkInterface)) *v1alpha.Instance {
		instance := sandbox(v1alpha.SandboxContainer{})
		change(&instance.Spec.NetworkInterfaces[0])
		return instance
	}
	tests := map[string]struct {
		instance         *v1alpha.Instance
		want, wantReason string
		wantClass        string
	}{
		"a sandbox":                  {instance: sandbox(v1alpha.SandboxContainer{}), wantClass: "gvisor"},
		"a sandbox of a class":       {instance: isolated, wantClass: "kata"},
		"a class that is not served": {instance: unknown, want: `"other"; it serves isolated`, wantReason: v1alpha.ReasonRuntimeClassNotServed},
		"a sandbox with a disk":      {instance: disk, want: "volume data is a disk", wantReason: v1alpha.ReasonConfigurationError},
		"a virtual machine":          {instance: machine, want: "sandboxes only", wantReason: v1alpha.ReasonConfigurationError},
		"the name of its interface":  {instance: face(func(i *v1alpha.InstanceNetworkInterface) { i.Name = "eth0" }), wantClass: "gvisor"},
		"another name of its interface": {
			instance: face(func(i *v1alpha.InstanceNetworkInterface) { i.Name = "net1" }), want: "interface net1",
			wantReason: v1alpha.ReasonConfigurationError,
		},
		"families of its addresses": {
			instance: face(func(i *v1alpha.InstanceNetworkInterface) { i.IPFamilies = []corev1.IPFamily{"IPv6"} }),
			want:     "ipFamilies", wantReason: v1alpha.ReasonConfigurationError,
		},
		"classes of its addresses": {
			instance: face(func(i *v1alpha.InstanceNetworkInterface) { i.Addresses = []v1alpha.InterfaceAddress{{}} }),
			want:     "addresses", wantReason: v1alpha.ReasonConfigurationError,
		},
		"a reclaim policy of its address": {
			instance: face(func(i *v1alpha.InstanceNetworkInterface) { i.ReclaimPolicy = "Retain" }), want: "reclaimPolicy",
			wantReason: v1alpha.ReasonConfigurationError,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			settings := Settings{RuntimeClass: "gvisor", RuntimeClasses: map[string]string{"isolated": "kata"}}
			got := settings.unsupported(&test.instance.Spec)
			if (got == nil) != (test.want == "") || got != nil && (got.reason != test.wantReason || !strings.Contains(got.message, test.want)) {
				t.Errorf("got %+v", got)
			}
			if class, _ := settings.runtimeClass(&test.instance.Spec); got == nil && *class != test.wantClass {
				t.Errorf("RuntimeClass %q, want %q", *class, test.wantClass)
			}
		})
	}
}

// TestAnyPod: whatever the template contains, a Pod obeys the settings of its cell.
func TestAnyPod(t *testing.T) {
	settings := &Settings{Capabilities: []corev1.Capability{"CHOWN"}, EphemeralStorage: resource.MustParse("10Gi")}
	own := corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Gi")}
	instance := sandbox(v1alpha.SandboxContainer{Name: "a"},
		v1alpha.SandboxContainer{Name: "b", Resources: &v1alpha.ContainerResourceRequirements{Limits: own}})
	pod := desiredPod(instance, settings)
	for i := range pod.Spec.Containers {
		context := pod.Spec.Containers[i].SecurityContext
		if *context.AllowPrivilegeEscalation || context.Capabilities.Drop[0] != "ALL" || context.Capabilities.Add[0] != "CHOWN" {
			t.Errorf("container %d: %+v", i, context)
		}
	}
	silent, says := pod.Spec.Containers[0].Resources, pod.Spec.Containers[1].Resources
	if silent.Limits.StorageEphemeral().String() != "10Gi" || !silent.Requests.StorageEphemeral().IsZero() {
		t.Errorf("a container that says nothing: %+v", silent)
	}
	if says.Limits.StorageEphemeral().String() != "1Gi" || says.Requests.StorageEphemeral().String() != "1Gi" {
		t.Errorf("a container that says its own: %+v", says)
	}
}

// TestPodsAreLimited: Pods are limited to the size of their Instance: each container to its own resources and the
// unassigned rest, and all of them together.
func TestPodsAreLimited(t *testing.T) {
	requesting := func(requests corev1.ResourceList) v1alpha.SandboxContainer {
		return v1alpha.SandboxContainer{Resources: &v1alpha.ContainerResourceRequirements{Requests: requests}}
	}
	limited := func(limits corev1.ResourceList) v1alpha.SandboxContainer {
		return v1alpha.SandboxContainer{Resources: &v1alpha.ContainerResourceRequirements{Limits: limits}}
	}
	silent := v1alpha.SandboxContainer{}
	tests := map[string]struct {
		containers []v1alpha.SandboxContainer
		ofType     corev1.ResourceList
		want       []corev1.ResourceList
		together   corev1.ResourceList
	}{
		"one that says nothing": {[]v1alpha.SandboxContainer{silent}, list("1", "2Gi"), []corev1.ResourceList{list("1", "2Gi")}, nil},
		"two that say nothing": {
			[]v1alpha.SandboxContainer{silent, silent},
			list("1", "2Gi"),
			[]corev1.ResourceList{list("1", "2Gi"), list("1", "2Gi")},
			list("1", "2Gi"),
		},
		"one that requests": {
			[]v1alpha.SandboxContainer{requesting(list("250m", "")), silent},
			list("1", "2Gi"),
			[]corev1.ResourceList{list("1", "2Gi"), list("750m", "2Gi")},
			list("1", "2Gi"),
		},
		"all request": {
			[]v1alpha.SandboxContainer{requesting(list("250m", "1Gi"))}, list("1", "2Gi"), []corev1.ResourceList{list("1", "2Gi")}, nil,
		},
		"the first takes all of it": {
			[]v1alpha.SandboxContainer{limited(list("1", "2Gi")), silent},
			list("1", "2Gi"),
			[]corev1.ResourceList{list("1", "2Gi"), list("1", "2Gi")},
			list("1", "2Gi"),
		},
		"limits of zero": {
			[]v1alpha.SandboxContainer{limited(list("0", "0")), silent},
			list("1", "2Gi"),
			[]corev1.ResourceList{list("1", "2Gi"), list("1", "2Gi")},
			list("1", "2Gi"),
		},
		"no type": {
			[]v1alpha.SandboxContainer{requesting(list("4", "1Gi")), silent},
			nil,
			[]corev1.ResourceList{list("4", "2Gi"), list("1", "2Gi")},
			nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			instance := sandbox(test.containers...)
			instance.Spec.Controller.InstanceTypeResources = test.ofType
			pod := desiredPod(instance, &Settings{})
			for i, want := range test.want {
				if got := pod.Spec.Containers[i].Resources.Limits; !equality.Semantic.DeepEqual(got, want) {
					t.Errorf("container %d is limited to %v, want %v", i, got, want)
				}
			}
			var together corev1.ResourceList
			if pod.Spec.Resources != nil {
				together = pod.Spec.Resources.Limits
			}
			if !equality.Semantic.DeepEqual(together, test.together) {
				t.Errorf("together they are limited to %v, want %v", together, test.together)
			}
		})
	}
}

// TestZeroIsNoSize: an Instance that requests zero, which admission once allowed, is limited to its type.
func TestZeroIsNoSize(t *testing.T) {
	instance := sandbox(v1alpha.SandboxContainer{Name: "a"}, v1alpha.SandboxContainer{Name: "b"})
	instance.Spec.Runtime.Resources.Requests = list("0", "0")
	pod := desiredPod(instance, &Settings{})
	for i := range pod.Spec.Containers {
		got := pod.Spec.Containers[i].Resources
		if !equality.Semantic.DeepEqual(got.Limits, list("1", "2Gi")) || !equality.Semantic.DeepEqual(got.Requests, list("1m", "1Mi")) {
			t.Errorf("container %d has %+v", i, got)
		}
	}
}
