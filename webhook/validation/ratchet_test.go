// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// broken breaks a rule in every list.
func broken() *v1alpha.Workload {
	w := sandbox()
	w.Name = "Web"
	scale(w).MinReplicas = -1
	scale(w).Metrics = cpuMetric(v1alpha.MetricTarget{Value: quantity("-1")})
	container(w).Ports[0].Name = "longer-than-a-name-of-a-Pod"
	w.Spec.Template.Spec.Runtime.Resources.Requests = resources("cpu", "0")
	container(w).Image = "no image"
	container(w).Env[0].ValueFrom = &corev1.EnvVarSource{}
	container(w).Ports[0].Port = 0
	container(w).VolumeAttachments[2].MountPath = new("data")
	volume(w, 2).Disk.Template.Spec.Resources.Requests = resources("storage", "9Gi")
	ingress(w).From[0].IPBlock.CIDR = "10.0.0.1"
	w.Spec.Template.Spec.Location = &v1alpha.LocationReference{Name: "here"}
	return w
}

func TestRatchet(t *testing.T) {
	cases := map[string]struct {
		change func(w *v1alpha.Workload)
		want   []string
	}{
		"elsewhere": {func(w *v1alpha.Workload) {
			w.Spec.Placements[0].CityCodes = []string{"ORD"}
			container(w).Args = []string{"--verbose"}
		}, nil},
		"elements before": {func(w *v1alpha.Workload) {
			good := sandbox().Spec
			good.Placements[0].Name = "eu"
			w.Spec.Placements = append(good.Placements, w.Spec.Placements...)
			container(w).Env = append([]corev1.EnvVar{{Name: "NEW"}}, container(w).Env...)
			container(w).Ports = append([]v1alpha.NamedPort{{Name: "new", Port: 1}}, container(w).Ports...)
			container(w).VolumeAttachments = append([]v1alpha.VolumeAttachment{{Name: "new", MountPath: new("/new")}},
				container(w).VolumeAttachments...)
			added := *volume(w, 0).DeepCopy()
			added.Name = "new"
			w.Spec.Template.Spec.Volumes = append([]v1alpha.InstanceVolume{added}, w.Spec.Template.Spec.Volumes...)
			ingress(w).From = append(sandbox().Spec.Template.Spec.NetworkInterfaces[0].NetworkPolicy.Ingress[0].From, ingress(w).From...)
			runtime := w.Spec.Template.Spec.Runtime.Sandbox
			runtime.Containers = append([]v1alpha.SandboxContainer{{Name: "new", Image: "docker.io/new:1"}}, runtime.Containers...)
		}, nil},
		"another wrong value": {func(w *v1alpha.Workload) {
			scale(w).MinReplicas = -2
			container(w).Image = "no image either"
			w.Spec.Template.Spec.Location.Name = "there"
			container(w).VolumeAttachments[2].MountPath = new("")
		}, []string{
			scalePath + "minReplicas " + invalid,
			containerPath + "image " + invalid,
			specPath + "location " + forbidden,
			containerPath + "volumeAttachments[2].mountPath " + required,
		}},
		"the same wrong value elsewhere": {func(w *v1alpha.Workload) {
			added := *w.Spec.Placements[0].DeepCopy()
			added.Name = "eu"
			w.Spec.Placements = append(w.Spec.Placements, added)
		}, []string{
			"spec.placements[1].scaleSettings.minReplicas " + invalid,
			"spec.placements[1].scaleSettings.maxReplicas " + required,
			"spec.placements[1].scaleSettings.metrics[0].resource.target.value " + forbidden,
		}},
		"once more in a list without a key": {func(w *v1alpha.Workload) {
			scale(w).Metrics = append(scale(w).Metrics, scale(w).Metrics[0])
		}, []string{scalePath + "metrics[1].resource.target.value " + forbidden}},
		"something new": {func(w *v1alpha.Workload) { container(w).Ports[0].Name = "" }, []string{
			containerPath + "ports[0].name " + required,
			// With another name it is another port.
			containerPath + "ports[0].port " + invalid,
		}},
		"repaired": {func(w *v1alpha.Workload) { scale(w).MinReplicas, container(w).Ports[0].Port = 1, 80 }, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := broken()
			w := before.DeepCopy()
			c.change(w)
			wantProblems(t, Workload(w, before), c.want...)
		})
	}
	if got := Workload(broken(), nil); len(got) != 15 {
		t.Errorf("%d problems are ratcheted here, want 15: %v", len(got), got)
	}
	if got := Workload(broken(), sandbox()); len(got) != 15 {
		t.Errorf("%d problems are new, want 15: %v", len(got), got)
	}
}

func TestRatchetBound(t *testing.T) {
	before := sandbox()
	scale(before).MaxReplicas, scale(before).MinReplicas = new(int32(2)), 3
	scale(before).Metrics = cpuMetric(v1alpha.MetricTarget{AverageUtilization: new(int32(50))})
	w := before.DeepCopy()
	scale(w).MinReplicas = 4
	wantProblems(t, Workload(w, before), scalePath+"maxReplicas "+invalid)
}

func TestRatchetSSHKeys(t *testing.T) {
	at := "spec.template.metadata.annotations[" + annotationSSHKeys + "] "
	before := machine()
	before.Spec.Template.Annotations[annotationSSHKeys] = "admin:ssh-ed25519 AAAA"
	w := before.DeepCopy()
	w.Spec.Template.Annotations[annotationSSHKeys] = "new:" + ed25519Key + "\nadmin:ssh-ed25519 AAAA"
	wantProblems(t, Workload(w, before))
	w.Spec.Template.Annotations[annotationSSHKeys] = "admin:ssh-ed25519 BBBB"
	wantProblems(t, Workload(w, before), at+invalid)
}

func TestShorten(t *testing.T) {
	if got := shorten("short"); got != "short" {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{strings.Repeat("é", longest), "a" + strings.Repeat("é", longest), strings.Repeat("\xa9", 2*longest)} {
		if got := shorten(text); len(got) > longest+3 || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}
