// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func always(container v1alpha.SandboxContainer) v1alpha.SandboxContainer {
	container.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	return container
}

// TestContainersOfAPod: the Pod has the template's probes, lifecycle, folders, mounts and identity, for containers and
// init containers alike.
func TestContainersOfAPod(t *testing.T) {
	http := &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("web"), Path: "/"}}, PeriodSeconds: 1,
	}
	exec := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
	grpc := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80}}}
	lifecycle := &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 5}}}
	full := v1alpha.SandboxContainer{
		Name: "app", Image: "nginx", WorkingDir: "/srv", ReadinessProbe: http, LivenessProbe: exec, StartupProbe: grpc, Lifecycle: lifecycle,
		VolumeAttachments: []v1alpha.VolumeAttachment{{Name: "config", MountPath: new("/etc/a"), ReadOnly: true, SubPath: "a"}},
		SecurityContext: &v1alpha.ContainerSecurityContext{
			RunAsUser: new(int64(1)), RunAsGroup: new(int64(2)), RunAsNonRoot: new(true), ReadOnlyRootFilesystem: new(true),
		},
	}
	instance := sandbox(full)
	instance.Spec.Runtime.Sandbox.InitContainers = []v1alpha.SandboxContainer{{Name: "migrate", Image: "migrate"}, always(full)}
	instance.Spec.Runtime.Sandbox.TerminationGracePeriodSeconds = new(int64(7))
	instance.Spec.Runtime.Sandbox.SecurityContext = &v1alpha.SandboxSecurityContext{
		RunAsUser: new(int64(3)), RunAsGroup: new(int64(4)), RunAsNonRoot: new(false), FSGroup: new(int64(5)),
	}
	pod := desiredPod(instance, &Settings{Capabilities: []corev1.Capability{"CHOWN"}, EphemeralStorage: resource.MustParse("1Gi")})
	want := corev1.Container{
		Name: "app", Image: "nginx", WorkingDir: "/srv", ReadinessProbe: http, LivenessProbe: exec, StartupProbe: grpc, Lifecycle: lifecycle,
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/a", ReadOnly: true, SubPath: "a"}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{
				Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"CHOWN"},
			},
			RunAsUser: new(int64(1)), RunAsGroup: new(int64(2)), RunAsNonRoot: new(true), ReadOnlyRootFilesystem: new(true),
		},
	}
	for place, container := range map[string]corev1.Container{"container": pod.Spec.Containers[0], "sidecar": pod.Spec.InitContainers[1]} {
		if place == "sidecar" {
			want.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		} else {
			want.RestartPolicy = nil
		}
		if container.Resources = (corev1.ResourceRequirements{}); !equality.Semantic.DeepEqual(container, want) {
			t.Errorf("%s %+v\nwant %+v", place, container, want)
		}
	}
	migrate := pod.Spec.InitContainers[0]
	if migrate.RestartPolicy != nil || *migrate.SecurityContext.AllowPrivilegeEscalation ||
		migrate.Resources.Limits.StorageEphemeral().String() != "1Gi" {
		t.Errorf("init container %+v", migrate)
	}
	if got := pod.Spec.SecurityContext; *got.RunAsUser != 3 || *got.RunAsGroup != 4 || *got.RunAsNonRoot || *got.FSGroup != 5 ||
		got.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context %+v", got)
	}
	if *pod.Spec.TerminationGracePeriodSeconds != 7 {
		t.Errorf("grace period %d", *pod.Spec.TerminationGracePeriodSeconds)
	}
}

// TestLimitsOfInitContainers: each has a limit and a request, and may take the rest that the sidecars before it leave.
func TestLimitsOfInitContainers(t *testing.T) {
	limited := func(cpu string) v1alpha.SandboxContainer {
		return v1alpha.SandboxContainer{Resources: &v1alpha.ContainerResourceRequirements{Limits: list(cpu, "")}}
	}
	instance := sandbox(limited("500m"))
	instance.Spec.Runtime.Sandbox.InitContainers = []v1alpha.SandboxContainer{
		{}, always(limited("250m")), {}, limited("1"), always(v1alpha.SandboxContainer{}),
	}
	pod := desiredPod(instance, &Settings{})
	// The last but one raises the size to 1250m: it runs beside the sidecar.
	for i, want := range []string{"1250m", "250m", "1", "1", "500m"} {
		got := pod.Spec.InitContainers[i].Resources
		if got.Limits.Cpu().String() != want || got.Requests.Cpu().Sign() <= 0 || got.Requests.Memory().Sign() <= 0 ||
			got.Limits.Memory().Sign() <= 0 {
			t.Errorf("init container %d has %+v, want a limit of %s", i, got, want)
		}
	}
	if together := pod.Spec.Resources; together == nil || together.Limits.Cpu().String() != "1250m" {
		t.Errorf("together %+v", together)
	}
}

func TestVolumesOfAPod(t *testing.T) {
	empty := func(medium corev1.StorageMedium, limit *resource.Quantity) v1alpha.InstanceVolume {
		return v1alpha.InstanceVolume{
			InstanceVolumeSource: v1alpha.InstanceVolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium, SizeLimit: limit}},
		}
	}
	modes := &corev1.ConfigMapVolumeSource{
		DefaultMode: new(int32(0o400)), Items: []corev1.KeyToPath{{Key: "a", Path: "b", Mode: new(int32(0o600))}},
	}
	settings := &Settings{EphemeralStorage: resource.MustParse("10Gi")}
	volumes := settings.desiredVolumes([]v1alpha.InstanceVolume{
		empty("", nil), empty("Memory", nil), empty("", new(resource.MustParse("1Gi"))),
		{InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: modes}},
		empty("", new(resource.MustParse("0"))), empty("Memory", new(resource.MustParse("0"))),
	})
	for i, want := range map[int]string{0: "10Gi", 1: "", 2: "1Gi", 4: "10Gi", 5: ""} {
		got := ""
		if limit := volumes[i].EmptyDir.SizeLimit; limit != nil {
			got = limit.String()
		}
		if got != want {
			t.Errorf("volume %d is limited to %q, want %q", i, got, want)
		}
	}
	if !equality.Semantic.DeepEqual(volumes[3].ConfigMap, modes) {
		t.Errorf("ConfigMap %+v", volumes[3].ConfigMap)
	}
	if limit := (&Settings{}).desiredVolumes([]v1alpha.InstanceVolume{empty("", nil)})[0].EmptyDir.SizeLimit; limit != nil {
		t.Errorf("without a limit of the cell it is %s", limit)
	}
}

// TestPodAnnotations: a consumer cannot configure the runtime, the network or the admission of a cell by annotations.
func TestPodAnnotations(t *testing.T) {
	template := map[string]string{
		"team": "a", "prometheus.io/scrape": "true", "io.katacontainers.config.hypervisor.kernel": "/evil",
		"k8s.v1.cni.cncf.io/networks":                        "other",
		"container.apparmor.security.beta.kubernetes.io/app": "unconfined", v1alpha.AnnotationRestartedAt: "now", "sub.prometheus.io/a": "b",
	}
	instance := sandbox(v1alpha.SandboxContainer{})
	instance.Annotations = template
	if got := desiredPod(instance, &Settings{}).Annotations; !maps.Equal(got, map[string]string{"team": "a"}) {
		t.Errorf("annotations %v", got)
	}
	got := desiredPod(instance, &Settings{PodAnnotations: []string{"prometheus.io"}}).Annotations
	if !maps.Equal(got, map[string]string{"team": "a", "prometheus.io/scrape": "true"}) {
		t.Errorf("annotations with an allowed domain %v", got)
	}
}

// TestPodLabels: nor by labels.
func TestPodLabels(t *testing.T) {
	instance := sandbox(v1alpha.SandboxContainer{})
	instance.Labels = map[string]string{
		"app": "web", "app.kubernetes.io/name": "web", "sidecar.istio.io/inject": "false",
		"admission.example.com/skip": "true", v1alpha.LabelTemplateHash: "1",
		v1alpha.LabelDeploymentName: "web",
	}
	want := map[string]string{
		"app": "web", "app.kubernetes.io/name": "web", v1alpha.LabelTemplateHash: "1", v1alpha.LabelDeploymentName: "web",
	}
	if got := desiredPod(instance, &Settings{}).Labels; !maps.Equal(got, want) {
		t.Errorf("labels %v", got)
	}
	want["sidecar.istio.io/inject"] = "false"
	if got := desiredPod(instance, &Settings{PodAnnotations: []string{"sidecar.istio.io"}}).Labels; !maps.Equal(got, want) {
		t.Errorf("labels with an allowed domain %v", got)
	}
}

func TestResolveFields(t *testing.T) {
	deployment := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns-1", Labels: map[string]string{v1alpha.LabelProjectNamespace: "default"},
		Annotations: map[string]string{v1alpha.AnnotationProjectName: "shop"},
	}}
	resolved := map[string]string{
		"metadata.name": "web-0", "metadata.namespace": "default", "metadata.annotations['compute.datumapis.com/project']": "shop",
		"metadata.labels['compute.datumapis.com/instance-index']": "0",
		"metadata.labels['compute.datumapis.com/city-code']":      "DFW", "metadata.labels['none']": "",
	}
	left := []string{"status.podIP", "status.podIPs", "metadata.annotations['team']"}
	instance := sandbox(v1alpha.SandboxContainer{})
	maps.Copy(instance.Labels, map[string]string{v1alpha.LabelInstanceIndex: "0", v1alpha.LabelCityCode: "DFW"})
	var env []corev1.EnvVar
	for _, path := range append(left, "metadata.name") {
		env = append(env, corev1.EnvVar{Name: path, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}})
	}
	for path := range resolved {
		env = append(env, corev1.EnvVar{Name: path, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}})
	}
	env = append(env, corev1.EnvVar{
		Name: "cpu", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}},
	})
	instance.Spec.Runtime.Sandbox.Containers[0].Env = env
	instance.Spec.Runtime.Sandbox.InitContainers = []v1alpha.SandboxContainer{{Env: env}}
	pod := desiredPod(instance, &Settings{})
	resolveFields(&pod.Spec, instance, deployment)
	for _, container := range podContainers(&pod.Spec) {
		for _, variable := range container.Env {
			want, literal := resolved[variable.Name]
			if literal != (variable.ValueFrom == nil) || variable.Value != want {
				t.Errorf("%s is %q from %v", variable.Name, variable.Value, variable.ValueFrom)
			}
		}
	}
	if instance.Spec.Runtime.Sandbox.Containers[0].Env[0].ValueFrom == nil {
		t.Error("the Instance was changed")
	}
}

// TestUnsupportedInContainers: the agent refuses the fields that admission refuses, for templates that admission did
// not see.
func TestUnsupportedInContainers(t *testing.T) {
	variable := func(path string) v1alpha.SandboxContainer {
		return v1alpha.SandboxContainer{
			Env: []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}},
		}
	}
	http, tcp := &corev1.HTTPGetAction{Host: "10.0.0.1"}, &corev1.TCPSocketAction{Host: "10.0.0.1"}
	tests := map[string]struct {
		container v1alpha.SandboxContainer
		want      string
	}{
		"a field of the Instance": {variable("metadata.name"), ""},
		"the node":                {variable("spec.nodeName"), "valueFrom.fieldRef"},
		"the address of the node": {variable("status.hostIP"), "valueFrom.fieldRef"},
		"a probe of the Instance": {
			v1alpha.SandboxContainer{ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{}}}}, "",
		},
		"readiness of a host": {
			v1alpha.SandboxContainer{ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: http}}}, "host",
		},
		"liveness of a host": {
			v1alpha.SandboxContainer{LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: tcp}}}, "host",
		},
		"startup of a host": {
			v1alpha.SandboxContainer{StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: tcp}}}, "host",
		},
		"a host after the start": {
			v1alpha.SandboxContainer{Lifecycle: &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{HTTPGet: http}}}, "host",
		},
		"a host before the stop": {
			v1alpha.SandboxContainer{Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{TCPSocket: tcp}}}, "host",
		},
	}
	for name, test := range tests {
		for _, init := range []bool{false, true} {
			instance := sandbox(test.container)
			if init {
				instance = sandbox(v1alpha.SandboxContainer{})
				instance.Spec.Runtime.Sandbox.InitContainers = []v1alpha.SandboxContainer{test.container}
			}
			got := (&Settings{}).unsupported(&instance.Spec)
			if (got == nil) != (test.want == "") || got != nil &&
				(got.reason != v1alpha.ReasonConfigurationError || !strings.Contains(got.message, test.want)) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}
