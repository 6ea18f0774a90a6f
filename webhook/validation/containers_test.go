// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestContainers(t *testing.T) {
	other := v1alpha.SandboxContainer{Name: "sidecar", Image: "registry:5000/sidecar@sha256:" + strings.Repeat("a", 64)}
	checkRules(t, []rule{
		{"none", nil, func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox.Containers, w.Spec.Template.Spec.Volumes = nil, nil
		}, []string{sandboxPath + "containers " + required}},
		{"another", nil, func(w *v1alpha.Workload) { addContainer(w, other) }, nil},
		{
			"same name", nil, func(w *v1alpha.Workload) {
				addContainer(w, v1alpha.SandboxContainer{Name: "web", Image: "docker.io/a:1"})
			},
			[]string{sandboxPath + "containers[1].name " + duplicate},
		},
		{"name", nil, func(w *v1alpha.Workload) { container(w).Name = "a_b" }, []string{containerPath + "name " + invalid}},
		{"no name", nil, func(w *v1alpha.Workload) { container(w).Name = "" }, []string{containerPath + "name " + required}},
		{"no image", nil, func(w *v1alpha.Workload) { container(w).Image = "" }, []string{containerPath + "image " + required}},
		{"image with a blank", nil, func(w *v1alpha.Workload) { container(w).Image = "nginx: 1" }, []string{containerPath + "image " + invalid}},
		{"pull secret", nil, func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox.ImagePullSecrets[0].Name = "a/b"
		}, []string{sandboxPath + "imagePullSecrets[0].name " + invalid}},
		{"no pull secret", nil, func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox.ImagePullSecrets[0].Name = ""
		}, []string{sandboxPath + "imagePullSecrets[0].name " + required}},
		{"same pull secret", nil, func(w *v1alpha.Workload) {
			runtime := w.Spec.Template.Spec.Runtime.Sandbox
			runtime.ImagePullSecrets = append(runtime.ImagePullSecrets, runtime.ImagePullSecrets[0])
		}, []string{sandboxPath + "imagePullSecrets[1].name " + duplicate}},
	})
}

func TestImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for text, want := range map[string]image{
		"nginx":                           {},
		"library/nginx":                   {},
		"nginx:1.27":                      {tag: "1.27"},
		"nginx:5000/a":                    {host: "nginx:5000"},
		"docker.io/nginx:latest":          {host: "docker.io", tag: "latest"},
		"localhost/a/b__c.d--e:_":         {host: "localhost", tag: "_"},
		"registry:5000/a:1@" + digest:     {host: "registry:5000", tag: "1", digest: digest},
		"[2001:db8::1]:5000/a@" + digest:  {host: "[2001:db8::1]:5000", digest: digest},
		"Registry.example.com/a-b/c_d:V1": {host: "Registry.example.com", tag: "V1"},
	} {
		if got, ok := parseImage(text); !ok || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", " nginx", "nginx ", "NGINX", "a//b", "/a", "a/", "a:", "a:b:c", "a@sha256:abc", "a@", "http://docker.io/a", "a\n",
		"a:" + strings.Repeat("b", 129), strings.Repeat("a", 256), "-a", "a..b",
	} {
		if _, ok := parseImage(text); ok {
			t.Errorf("%q is taken as an image", text)
		}
	}
}

func TestEnv(t *testing.T) {
	env := containerPath + "env[0]."
	set := func(variable corev1.EnvVar) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).Env = []corev1.EnvVar{variable} }
	}
	from := func(source corev1.EnvVarSource) func(w *v1alpha.Workload) {
		return set(corev1.EnvVar{Name: "A", ValueFrom: &source})
	}
	ref := func(name, key string) *corev1.SecretKeySelector {
		return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
	}
	checkRules(t, []rule{
		{"name", nil, set(corev1.EnvVar{Name: "a.b-c", Value: "1"}), nil},
		{"wrong name", nil, set(corev1.EnvVar{Name: "a=b"}), []string{env + "name " + invalid}},
		{"no name", nil, set(corev1.EnvVar{}), []string{env + "name " + required}},
		{
			"same name", nil, func(w *v1alpha.Workload) { container(w).Env = []corev1.EnvVar{{Name: "A"}, {Name: "A"}} },
			[]string{containerPath + "env[1].name " + duplicate},
		},
		{
			"value and valueFrom", nil, set(corev1.EnvVar{Name: "A", Value: "1", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: ref("a", "b")}}),
			[]string{env + "valueFrom " + forbidden},
		},
		{"from nothing", nil, from(corev1.EnvVarSource{}), []string{env + "valueFrom " + required}},
		{"from both", nil, from(corev1.EnvVarSource{
			SecretKeyRef:    ref("a", "b"),
			ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}, Key: "b"},
		}), []string{env + "valueFrom.secretKeyRef " + forbidden}},
		{
			"from a file", nil, from(corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{}}),
			[]string{env + "valueFrom.fileKeyRef " + forbidden},
		},
		{
			"from a Secret without name", nil, from(corev1.EnvVarSource{SecretKeyRef: ref("", "b")}),
			[]string{env + "valueFrom.secretKeyRef.name " + required},
		},
		{
			"from a Secret of a wrong name", nil, from(corev1.EnvVarSource{SecretKeyRef: ref("A", "b")}),
			[]string{env + "valueFrom.secretKeyRef.name " + invalid},
		},
		{
			"from no key", nil, from(corev1.EnvVarSource{SecretKeyRef: ref("a", "")}),
			[]string{env + "valueFrom.secretKeyRef.key " + required},
		},
		{"from a wrong key", nil, from(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "a"}, Key: "b/c",
		}}), []string{env + "valueFrom.configMapKeyRef.key " + invalid}},
	})
}

func TestResources(t *testing.T) {
	requests := specPath + "runtime.resources.requests"
	limited := func(limits ...string) *v1alpha.ContainerResourceRequirements {
		return &v1alpha.ContainerResourceRequirements{Limits: resources(limits...)}
	}
	size := func(size []string, first, second *v1alpha.ContainerResourceRequirements) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Resources.Requests = resources(size...)
			container(w).Resources = first
			addContainer(w, v1alpha.SandboxContainer{Name: "b", Image: "docker.io/b:1", Resources: second})
		}
	}
	one := []string{"cpu", "1", "memory", "1Gi"}
	checkRules(t, []rule{
		{"size", nil, size(one, nil, nil), nil},
		{"negative size", nil, size([]string{"cpu", "-1"}, nil, nil), []string{requests + "[cpu] " + invalid}},
		{
			"zero size", nil, size([]string{"cpu", "0", "memory", "0"}, nil, nil),
			[]string{requests + "[cpu] " + invalid, requests + "[memory] " + invalid},
		},
		{"limits are the size", nil, size(one, limited("cpu", "250m", "memory", "512Mi"), limited("cpu", "750m", "memory", "512Mi")), nil},
		{"limits below the size", nil, size(one, limited("cpu", "250m"), limited("cpu", "250m")), []string{requests + "[cpu] " + invalid}},
		{
			"limits above the size", nil, size(one, limited("cpu", "1", "memory", "1Gi"), limited("cpu", "1", "memory", "1Ki")),
			[]string{requests + "[cpu] " + invalid, requests + "[memory] " + invalid},
		},
		{"a container without a limit", nil, size(one, limited("cpu", "250m"), limited("memory", "1Gi")), nil},
		{"limits without a size", nil, size(nil, limited("cpu", "250m"), limited("cpu", "250m")), nil},
		{
			"negative limit", nil, func(w *v1alpha.Workload) { container(w).Resources = limited("cpu", "-1") },
			[]string{containerPath + "resources.limits[cpu] " + invalid},
		},
		{"requests", nil, func(w *v1alpha.Workload) {
			container(w).Resources = limited("cpu", "1")
			container(w).Resources.Requests = resources("cpu", "1", "memory", "1Gi")
		}, nil},
		{"negative request", nil, func(w *v1alpha.Workload) {
			container(w).Resources = &v1alpha.ContainerResourceRequirements{Requests: resources("cpu", "-1")}
		}, []string{containerPath + "resources.requests[cpu] " + invalid}},
		{"zero", nil, func(w *v1alpha.Workload) {
			container(w).Resources = &v1alpha.ContainerResourceRequirements{
				Requests: resources("cpu", "0"), Limits: resources("cpu", "0", "memory", "0"),
			}
		}, nil},
		{"a limit of zero below a request", nil, func(w *v1alpha.Workload) {
			container(w).Resources = &v1alpha.ContainerResourceRequirements{Requests: resources("cpu", "1"), Limits: resources("cpu", "0")}
		}, []string{containerPath + "resources.requests[cpu] " + invalid}},
		{"a limit of zero is no part of the size", nil, size(one, limited("cpu", "0"), limited("cpu", "250m")), nil},
		{"the most", nil, func(w *v1alpha.Workload) { container(w).Resources = limited("example.com/gpu", "1Pi") }, nil},
		{"beyond the most", nil, func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Resources.Requests = resources("memory", "9223372036854775807")
			container(w).Resources = limited("example.com/gpu", "1125899906842624001m")
			container(w).Resources.Requests = resources("cpu", "2Ei")
		}, []string{
			requests + "[memory] " + invalid, containerPath + "resources.limits[example.com/gpu] " + invalid,
			containerPath + "resources.requests[cpu] " + invalid,
		}},
		{"requests above limits", nil, func(w *v1alpha.Workload) {
			container(w).Resources = limited("cpu", "1")
			container(w).Resources.Requests = resources("cpu", "1001m")
		}, []string{containerPath + "resources.requests[cpu] " + invalid}},
	})
}

// TestUncountable would not end if these quantities were compared.
func TestUncountable(t *testing.T) {
	const huge = "1e1000000000"
	w := sandbox()
	w.Spec.Template.Spec.Runtime.Resources.Requests = resources("cpu", huge, "memory", "1Gi")
	container(w).Resources = &v1alpha.ContainerResourceRequirements{
		Limits: resources("cpu", "1", "memory", huge), Requests: resources("cpu", huge, "memory", "1Gi"),
	}
	volume(w, 2).Disk.Template.Spec.Resources.Requests = resources("storage", "-"+huge)
	scale(w).Metrics, scale(w).MaxReplicas = cpuMetric(v1alpha.MetricTarget{Value: quantity(huge)}), new(int32(1))
	want := []string{
		specPath + "runtime.resources.requests[cpu] " + invalid,
		containerPath + "resources.limits[memory] " + invalid,
		containerPath + "resources.requests[cpu] " + invalid,
		volumePath + "[2].disk.template.spec.resources.requests[storage] " + invalid,
		scalePath + "metrics[0].resource.target.value " + invalid,
	}
	wantProblems(t, Workload(w, nil), want...)
	wantProblems(t, Workload(w, w))
	changed := w.DeepCopy()
	scale(changed).Metrics[0].Resource.Target.Value = quantity("2e1000000000")
	wantProblems(t, Workload(changed, w), want[4])
}

func TestMounts(t *testing.T) {
	attachment := containerPath + "volumeAttachments[2]."
	mount := func(path *string) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).VolumeAttachments[2].MountPath = path }
	}
	populate := func(disk *v1alpha.DiskVolumeSource) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { volume(w, 2).Disk = disk }
	}
	checkRules(t, []rule{
		{
			"nothing", nil, func(w *v1alpha.Workload) { container(w).VolumeAttachments[2].Name = "" },
			[]string{attachment + "name " + required, volumePath + "[2].name " + invalid},
		},
		{
			"not there", nil, func(w *v1alpha.Workload) { container(w).VolumeAttachments[2].Name = "gone" },
			[]string{attachment + "name " + notFound, volumePath + "[2].name " + invalid},
		},
		{"same volume", nil, func(w *v1alpha.Workload) {
			container(w).VolumeAttachments = append(container(w).VolumeAttachments, v1alpha.VolumeAttachment{Name: "data", MountPath: new("/b")})
		}, nil},
		{"mounted by another container", nil, func(w *v1alpha.Workload) {
			attachments := container(w).VolumeAttachments
			container(w).VolumeAttachments = nil
			addContainer(w, v1alpha.SandboxContainer{Name: "b", Image: "docker.io/b:1", VolumeAttachments: attachments})
		}, nil},
		{"no path", nil, mount(nil), []string{attachment + "mountPath " + required}},
		{"empty path", nil, mount(new("")), []string{attachment + "mountPath " + required}},
		{"relative path", nil, mount(new("data")), []string{attachment + "mountPath " + invalid}},
		{"path with ..", nil, mount(new("/a/../b")), []string{attachment + "mountPath " + invalid}},
		{"path with :", nil, mount(new("/a:b")), []string{attachment + "mountPath " + invalid}},
		{"path with dots", nil, mount(new("/a/..b/")), nil},
		{"same path", nil, mount(new("/etc/token/")), []string{attachment + "mountPath " + duplicate}},
		{"disk from an image", nil, populate(imageDisk("25Gi")), nil},
		{"disk without a populator", nil, populate(disk("10Gi")), []string{attachment + "name " + invalid}},
	})
}

func TestEnvFrom(t *testing.T) {
	at := containerPath + "envFrom[0]"
	set := func(source corev1.EnvFromSource) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).EnvFrom = []corev1.EnvFromSource{source} }
	}
	configMap := func(name string) *corev1.ConfigMapEnvSource {
		return &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	}
	secret := func(name string) *corev1.SecretEnvSource {
		return &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	}
	checkRules(t, []rule{
		{"a ConfigMap", nil, set(corev1.EnvFromSource{Prefix: "A_", ConfigMapRef: configMap("settings")}), nil},
		{"a Secret", nil, set(corev1.EnvFromSource{SecretRef: secret("keys")}), nil},
		{"neither", nil, set(corev1.EnvFromSource{}), []string{at + " " + required}},
		{
			"both", nil, set(corev1.EnvFromSource{ConfigMapRef: configMap("settings"), SecretRef: secret("keys")}),
			[]string{at + ".secretRef " + forbidden},
		},
		{"a wrong prefix", nil, set(corev1.EnvFromSource{Prefix: "a=", SecretRef: secret("keys")}), []string{at + ".prefix " + invalid}},
		{"no name", nil, set(corev1.EnvFromSource{SecretRef: secret("")}), []string{at + ".secretRef.name " + required}},
		{"a wrong name", nil, set(corev1.EnvFromSource{ConfigMapRef: configMap("a/b")}), []string{at + ".configMapRef.name " + invalid}},
	})
}

// TestNUL verifies that no string of a container that a runtime passes to the kernel has a NUL: no process can be
// started with one.
func TestNUL(t *testing.T) {
	const nul = "a\x00b"
	set := func(change func(c *v1alpha.SandboxContainer)) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { change(container(w)) }
	}
	checkRules(t, []rule{
		{
			"command", nil, set(func(c *v1alpha.SandboxContainer) { c.Command = []string{"sh", nul} }),
			[]string{containerPath + "command[1] " + invalid},
		},
		{"args", nil, set(func(c *v1alpha.SandboxContainer) { c.Args = []string{nul, "a", nul} }), []string{
			containerPath + "args[0] " + invalid, containerPath + "args[2] " + invalid,
		}},
		{"a value", nil, set(func(c *v1alpha.SandboxContainer) { c.Env[0].Value = nul }), []string{containerPath + "env[0].value " + invalid}},
		{"a name", nil, set(func(c *v1alpha.SandboxContainer) { c.Env[0].Name = nul }), []string{containerPath + "env[0].name " + invalid}},
		{"a prefix", nil, set(func(c *v1alpha.SandboxContainer) {
			c.EnvFrom = []corev1.EnvFromSource{
				{Prefix: nul, ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}}},
			}
		}), []string{containerPath + "envFrom[0].prefix " + invalid}},
		{"a path", nil, set(func(c *v1alpha.SandboxContainer) { c.VolumeAttachments[0].MountPath = new("/" + nul) }), []string{
			containerPath + "volumeAttachments[0].mountPath " + invalid,
		}},
		{
			"the path of a key", nil, func(w *v1alpha.Workload) { volume(w, 0).ConfigMap.Items[0].Path = nul },
			[]string{volumePath + "[0].configMap.items[0].path " + invalid},
		},
		{
			"other control characters", nil, set(func(c *v1alpha.SandboxContainer) {
				c.Args, c.Env[0].Value = []string{
					"a\tb\x01",
				}, "a\nb\x7f"
			}), nil,
		},
	})
}

// TestNULIsNotShown verifies that the problem shows neither the value of a variable, which may be secret, nor the NUL.
func TestNULIsNotShown(t *testing.T) {
	w := sandbox()
	container(w).Env[0].Value = "c2VjcmV0\x00"
	container(w).Args = []string{"c2VjcmV0\x00"}
	text := fmt.Sprint(Workload(w, nil).ToAggregate())
	if strings.Contains(text, "c2VjcmV0") || strings.Contains(text, "\x00") || !strings.Contains(text, "NUL") {
		t.Errorf("got %q", text)
	}
}
