// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// TestDefaultsOfTheAPIServer: what a kube-apiserver writes into a Pod template is no change of a template. The table of
// defaults in internal/templates follows Kubernetes, or this test fails.
func TestDefaultsOfTheAPIServer(t *testing.T) {
	f := newFixture(t)
	sandbox, volumes := &v1alpha.SandboxRuntime{}, []v1alpha.InstanceVolume{}
	get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}
	call := corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 81}}
	connect := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(82)}}
	variable := func(name string, from corev1.EnvVarSource) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &from}
	}
	data := corev1.LocalObjectReference{Name: "data"}
	sandbox.Containers = []v1alpha.SandboxContainer{{
		Name: "app", Image: "one:1", Ports: []v1alpha.NamedPort{{Name: "http", Port: 80}},
		Env: []corev1.EnvVar{
			variable("FIELD", corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}),
			variable("CPU", corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}),
			variable("KEY", corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: data, Key: "key"}}),
			variable("SECRET", corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: data, Key: "key"}}),
		},
		EnvFrom: []corev1.EnvFromSource{
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: data}}, {SecretRef: &corev1.SecretEnvSource{LocalObjectReference: data}},
		},
		ReadinessProbe: &corev1.Probe{ProbeHandler: get}, LivenessProbe: &corev1.Probe{ProbeHandler: call},
		StartupProbe: &corev1.Probe{ProbeHandler: connect},
		Lifecycle: &corev1.Lifecycle{
			PostStart: &corev1.LifecycleHandler{HTTPGet: get.HTTPGet.DeepCopy()},
			PreStop:   &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}},
		},
	}}
	volumes = append(volumes,
		v1alpha.InstanceVolume{
			Name: "map", InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: data}},
		},
		v1alpha.InstanceVolume{
			Name: "secret", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "data"}},
		},
		v1alpha.InstanceVolume{Name: "empty", InstanceVolumeSource: v1alpha.InstanceVolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	)
	before := &v1alpha.InstanceTemplateSpec{
		Spec: v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{Sandbox: sandbox}, Volumes: volumes},
	}
	after := asStored(t, f.direct, f.namespace, before)
	if stored := after.Spec.Runtime.Sandbox; stored.Containers[0].ReadinessProbe.PeriodSeconds == 0 ||
		stored.TerminationGracePeriodSeconds == nil {
		t.Fatalf("the API server has written no defaults: %+v", stored)
	}
	hash, err := templates.Hash(before)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := templates.Hash(after); err != nil || got != hash || !templates.Equalities.DeepEqual(after.Spec, before.Spec) {
		t.Errorf("the defaults change the template: %+v", after.Spec)
	}
}

// asStored returns a template as an API server stores it in a PodTemplate, whose defaults are the ones of a Deployment.
func asStored(t *testing.T, c client.Client, namespace string, template *v1alpha.InstanceTemplateSpec) *v1alpha.InstanceTemplateSpec {
	t.Helper()
	result := template.DeepCopy()
	own := &result.Spec.Runtime.Sandbox.Containers[0]
	pod := &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "defaults"},
		Template:   corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}},
	}
	container := corev1.Container{
		Name: own.Name, Image: own.Image, Env: own.Env, EnvFrom: own.EnvFrom, ReadinessProbe: own.ReadinessProbe,
		LivenessProbe: own.LivenessProbe,
		StartupProbe:  own.StartupProbe, Lifecycle: own.Lifecycle, SecurityContext: &corev1.SecurityContext{},
		Ports: []corev1.ContainerPort{{Name: own.Ports[0].Name, ContainerPort: own.Ports[0].Port}},
	}
	for _, volume := range result.Spec.Volumes {
		pod.Template.Spec.Volumes = append(pod.Template.Spec.Volumes, corev1.Volume{Name: volume.Name, VolumeSource: corev1.VolumeSource{
			ConfigMap: volume.ConfigMap, Secret: volume.Secret, EmptyDir: volume.EmptyDir,
		}})
	}
	pod.Template.Spec.Containers = []corev1.Container{container}
	if err := c.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	stored := &pod.Template.Spec.Containers[0]
	own.Env, own.EnvFrom, own.Lifecycle = stored.Env, stored.EnvFrom, stored.Lifecycle
	own.ReadinessProbe, own.LivenessProbe, own.StartupProbe = stored.ReadinessProbe, stored.LivenessProbe, stored.StartupProbe
	own.SecurityContext, own.Ports[0].Protocol = &v1alpha.ContainerSecurityContext{}, new(stored.Ports[0].Protocol)
	for i, volume := range pod.Template.Spec.Volumes {
		result.Spec.Volumes[i].ConfigMap, result.Spec.Volumes[i].Secret, result.Spec.Volumes[i].EmptyDir = volume.ConfigMap,
			volume.Secret, volume.EmptyDir
	}
	result.Spec.Runtime.Sandbox.TerminationGracePeriodSeconds = pod.Template.Spec.TerminationGracePeriodSeconds
	result.Spec.Runtime.Sandbox.SecurityContext = &v1alpha.SandboxSecurityContext{FSGroup: pod.Template.Spec.SecurityContext.FSGroup}
	return result
}
