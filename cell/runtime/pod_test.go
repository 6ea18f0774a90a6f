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
			NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}, {Network: v1alpha.NetworkReference{Name: "second"}}},
			Controller:        &v1alpha.InstanceController{TemplateHash: "hash"},
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
		Ports:             []v1alpha.NamedPort{{Name: "web", Port: 80}, {Name: "name-of-more-than-15", Port: 53, Protocol: &udp}},
		VolumeAttachments: []v1alpha.VolumeAttachment{{Name: "config", MountPath: new("/etc/config")}, {Name: "key", MountPath: new("/etc/key")}},
	})
	configMap := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}
	secret := &corev1.SecretVolumeSource{SecretName: "s"}
	instance.Spec.Volumes = []v1alpha.InstanceVolume{
		{Name: "config", InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: configMap}},
		{Name: "key", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: secret}},
	}
	pod := desiredPod(instance)
	if !metav1.IsControlledBy(pod, instance) || !*pod.OwnerReferences[0].BlockOwnerDeletion {
		t.Errorf("owners %+v", pod.OwnerReferences)
	}
	if pod.Name != "web-0" || pod.Namespace != "ns-1" || !equality.Semantic.DeepEqual(pod.Labels, instance.Labels) {
		t.Errorf("metadata %+v", pod.ObjectMeta)
	}
	want := corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "app", Image: "nginx", Command: []string{"run"}, Args: []string{"-x"}, Env: []corev1.EnvVar{{Name: "A", Value: "b"}},
			Ports:        []corev1.ContainerPort{{Name: "web", ContainerPort: 80, Protocol: "TCP"}, {ContainerPort: 53, Protocol: "UDP"}},
			VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}, {Name: "key", MountPath: "/etc/key"}},
			Resources:    corev1.ResourceRequirements{Requests: list("1", "2Gi")},
		}},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: configMap}},
			{Name: "key", VolumeSource: corev1.VolumeSource{Secret: secret}},
		},
		ImagePullSecrets:             []corev1.LocalObjectReference{{Name: "pull"}},
		RestartPolicy:                corev1.RestartPolicyAlways,
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
	}
	if !equality.Semantic.DeepEqual(pod.Spec, want) {
		t.Errorf("spec %+v\nwant %+v", pod.Spec, want)
	}
	instance.Labels = nil
	if desiredPod(instance).Labels[v1alpha.LabelDeploymentName] == "" {
		t.Error("a Pod without the label is not in the cache")
	}
}

func TestUnsupported(t *testing.T) {
	disk := sandbox(v1alpha.SandboxContainer{})
	disk.Spec.Volumes = []v1alpha.InstanceVolume{{Name: "data", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Disk: &v1alpha.DiskVolumeSource{}}}}
	machine := sandbox()
	machine.Spec.Runtime.Sandbox = nil
	machine.Spec.Runtime.VirtualMachine = &v1alpha.VirtualMachineRuntime{}
	tests := map[string]struct {
		instance *v1alpha.Instance
		want     string
	}{
		"a sandbox":             {sandbox(v1alpha.SandboxContainer{}), ""},
		"a sandbox with a disk": {disk, "volume data is a disk"},
		"a virtual machine":     {machine, "sandboxes only"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := unsupported(&test.instance.Spec)
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
