// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"crypto/ecdh"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestTemplate(t *testing.T) {
	meta := "spec.template.metadata."
	label := func(key, value string) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { w.Spec.Template.Labels = map[string]string{key: value} }
	}
	annotation := func(key, value string) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { w.Spec.Template.Annotations = map[string]string{key: value} }
	}
	checkRules(t, []rule{
		{"label", nil, label("example.com/app", "web"), nil},
		{"label's name", nil, label("a b", ""), []string{meta + "labels[a b] " + invalid}},
		{"label's value", nil, label("a", "b c"), []string{meta + "labels[a] " + invalid}},
		{"reserved label", nil, label(v1alpha.LabelWorkloadUID, "1"), []string{meta + "labels[" + v1alpha.LabelWorkloadUID + "] " + forbidden}},
		{"annotation", nil, annotation("Example", "any thing"), nil},
		{"annotation's name", nil, annotation("a b", ""), []string{meta + "annotations[a b] " + invalid}},
		{"restartedAt", nil, annotation(v1alpha.AnnotationRestartedAt, "now"), nil},
		{
			"reserved annotation", nil, annotation(v1alpha.AnnotationProjectName, "p"),
			[]string{meta + "annotations[" + v1alpha.AnnotationProjectName + "] " + forbidden},
		},
		{"annotations of 256 KiB", nil, annotation("a", strings.Repeat("b", 256<<10)), []string{meta + "annotations " + tooLong}},
		{
			"location", nil, func(w *v1alpha.Workload) { w.Spec.Template.Spec.Location = &v1alpha.LocationReference{Name: "a"} },
			[]string{specPath + "location " + forbidden},
		},
		{
			"controller", nil, func(w *v1alpha.Workload) { w.Spec.Template.Spec.Controller = &v1alpha.InstanceController{} },
			[]string{specPath + "controller " + forbidden},
		},
		{"no runtime", nil, func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox, w.Spec.Template.Spec.Volumes = nil, nil
		}, []string{specPath + "runtime " + required}},
		{"two runtimes", machine, func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{
				Containers: []v1alpha.SandboxContainer{{Name: "a", Image: "docker.io/a:1"}},
			}
		}, []string{specPath + "runtime.virtualMachine " + forbidden}},
	})
}

func TestVirtualMachine(t *testing.T) {
	attachments := machinePath + "volumeAttachments"
	checkRules(t, []rule{
		{"no disk", machine, func(w *v1alpha.Workload) {
			vm(w).VolumeAttachments, w.Spec.Template.Spec.Volumes = nil, nil
		}, []string{attachments + " " + required}},
		{"boots from an empty disk", machine, func(w *v1alpha.Workload) {
			list := vm(w).VolumeAttachments
			list[0], list[1] = list[1], list[0]
		}, []string{attachments + "[0].name " + invalid}},
		{"attaches a ConfigMap", machine, func(w *v1alpha.Workload) {
			volume(w, 1).InstanceVolumeSource = v1alpha.InstanceVolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "a"},
			}}
		}, []string{attachments + "[1].name " + invalid}},
		{"attaches what is not there", machine, func(w *v1alpha.Workload) {
			vm(w).VolumeAttachments = append(vm(w).VolumeAttachments, v1alpha.VolumeAttachment{Name: "gone"})
		}, []string{attachments + "[2].name " + notFound}},
		{"attaches twice", machine, func(w *v1alpha.Workload) {
			vm(w).VolumeAttachments = append(vm(w).VolumeAttachments, v1alpha.VolumeAttachment{Name: "data"})
		}, []string{attachments + "[2].name " + duplicate}},
		{"filesystem that is mounted", machine, func(w *v1alpha.Workload) {
			volume(w, 1).Disk = filesystemDisk("10Gi")
			vm(w).VolumeAttachments[1].MountPath = new("/data")
		}, nil},
		{"filesystem that is not mounted", machine, func(w *v1alpha.Workload) {
			volume(w, 1).Disk = filesystemDisk("10Gi")
		}, []string{attachments + "[1].mountPath " + required}},
		{
			"mounted relatively", machine, func(w *v1alpha.Workload) { vm(w).VolumeAttachments[1].MountPath = new("data") },
			[]string{attachments + "[1].mountPath " + invalid},
		},
	})
}

func TestSSHKeys(t *testing.T) {
	at := "spec.template.metadata.annotations[" + annotationSSHKeys + "] "
	fields := strings.Fields(ed25519Key)
	point, err := ecdh.P521().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	prime := append([]byte{0, 0x80}, make([]byte, 127)...)
	cases := map[string]struct {
		text string
		want []string
	}{
		"rsa":               {"a:" + publicKeyOf("ssh-rsa", []byte{1, 0, 1}, append(prime, prime[1:]...)), nil},
		"dsa":               {"a:" + publicKeyOf("ssh-dss", prime, []byte{1}, []byte{1}, []byte{1}), nil},
		"ecdsa":             {"a:" + publicKeyOf("ecdsa-sha2-nistp521", []byte("nistp521"), point.PublicKey().Bytes()), nil},
		"security key":      {"a:" + publicKey("sk-ssh-ed25519@openssh.com", 32, 4), nil},
		"two, and blanks":   {"\na:" + ed25519Key + "\r\n\n  b: " + ed25519Key + "\n", nil},
		"no comment":        {"a:" + fields[0] + " " + fields[1], nil},
		"options":           {`a:no-pty,command="echo \"a b\"" ` + ed25519Key, nil},
		"none":              {"", []string{at + required}},
		"blanks":            {" \n\n", []string{at + required}},
		"no user":           {ed25519Key, []string{at + invalid}},
		"empty user":        {":" + ed25519Key, []string{at + invalid}},
		"wrong user":        {"a b:" + ed25519Key, []string{at + invalid}},
		"no key":            {"a:", []string{at + invalid}},
		"kind alone":        {"a:ssh-ed25519", []string{at + invalid}},
		"unknown kind":      {"a:ssh-foo " + fields[1], []string{at + invalid}},
		"other kind inside": {"a:ssh-rsa " + fields[1], []string{at + invalid}},
		"no base64":         {"a:ssh-ed25519 !" + fields[1], []string{at + invalid}},
		"cut":               {"a:" + publicKey("ssh-ed25519", 31), []string{at + invalid}},
		"too long":          {"a:" + publicKey("ssh-ed25519", 32, 1), []string{at + invalid}},
		"part is missing":   {"a:" + publicKey("ssh-rsa", 3), []string{at + invalid}},
		"empty part":        {"a:" + publicKey("ssh-rsa", 0, 257), []string{at + invalid}},
		"options alone":     {`a:command="`, []string{at + invalid}},
		"two wrong of four": {strings.Repeat("a:"+ed25519Key+"\nwrong\n", 2), []string{at + invalid, at + invalid}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := machine()
			w.Spec.Template.Annotations[annotationSSHKeys] = c.text
			wantProblems(t, Workload(w, nil), c.want...)
		})
	}
	w := sandbox()
	w.Spec.Template.Annotations = map[string]string{annotationSSHKeys: "of no interest to a sandbox"}
	wantProblems(t, Workload(w, nil))
}

// TestSecretsAreNotShown: no error shows a value that may be secret.
func TestSecretsAreNotShown(t *testing.T) {
	const secret = "c2VjcmV0"
	w := machine()
	w.Spec.Template.Annotations[annotationSSHKeys] = "admin:ssh-ed25519 " + secret + "\n" + secret
	w.Spec.Template.Annotations[reserved+"other"] = secret
	w.Spec.Template.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{
		Name: "a", Image: "docker.io/a:1",
		Env: []corev1.EnvVar{{Name: "A", Value: secret, ValueFrom: &corev1.EnvVarSource{}}},
	}}}
	problems := Workload(w, nil)
	if len(problems) < 4 {
		t.Errorf("too few problems: %v", problems)
	}
	if text := fmt.Sprint(problems.ToAggregate()); strings.Contains(text, secret) {
		t.Errorf("a secret is shown: %s", text)
	}
}
