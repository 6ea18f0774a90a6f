// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	specPath      = "spec.template.spec."
	sandboxPath   = specPath + "runtime.sandbox."
	containerPath = sandboxPath + "containers[0]."
	machinePath   = specPath + "runtime.virtualMachine."
	volumePath    = specPath + "volumes"
	scalePath     = "spec.placements[0].scaleSettings."
	ingressPath   = specPath + "networkInterfaces[0].networkPolicy.ingress[0]."
)

// Types of problems in cases.
var (
	invalid     = string(field.ErrorTypeInvalid)
	required    = string(field.ErrorTypeRequired)
	duplicate   = string(field.ErrorTypeDuplicate)
	forbidden   = string(field.ErrorTypeForbidden)
	tooMany     = string(field.ErrorTypeTooMany)
	notFound    = string(field.ErrorTypeNotFound)
	unsupported = string(field.ErrorTypeNotSupported)
	tooLong     = string(field.ErrorTypeTooLong)
)

// sandbox has one of everything that a sandbox can have: volumes config, token and data, all mounted by web.
func sandbox() *v1alpha.Workload {
	w := workload()
	w.Spec.Template.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{
		Containers: []v1alpha.SandboxContainer{{
			Name: "web", Image: "docker.io/library/nginx:1.27",
			Env: []corev1.EnvVar{
				{Name: "PLAIN", Value: "plain"},
				{Name: "FROM_CONFIG", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "mode",
				}}},
				{Name: "FROM_SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "password"}, Key: "password",
				}}},
			},
			VolumeAttachments: []v1alpha.VolumeAttachment{
				{Name: "config", MountPath: new("/etc/config")},
				{Name: "token", MountPath: new("/etc/token")},
				{Name: "data", MountPath: new("/data")},
			},
			Ports: []v1alpha.NamedPort{{Name: "http", Port: 80}},
		}},
		ImagePullSecrets: []v1alpha.ImagePullSecretReference{{Name: "registry"}},
	}
	w.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{
		{Name: "config", InstanceVolumeSource: v1alpha.InstanceVolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
			Items:                []corev1.KeyToPath{{Key: "mode", Path: "a/mode"}},
		}}},
		{Name: "token", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}},
		{Name: "data", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Disk: filesystemDisk("10Gi")}},
	}
	return w
}

// machine boots from disk boot and has disk data without a filesystem.
func machine() *v1alpha.Workload {
	w := workload()
	w.Spec.Template.Annotations = map[string]string{annotationSSHKeys: "admin:" + ed25519Key}
	w.Spec.Template.Spec.Runtime.VirtualMachine = &v1alpha.VirtualMachineRuntime{
		VolumeAttachments: []v1alpha.VolumeAttachment{{Name: "boot"}, {Name: "data"}},
		Ports:             []v1alpha.NamedPort{{Name: "ssh", Port: 22}},
	}
	w.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{
		{Name: "boot", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Disk: imageDisk("25Gi")}},
		{Name: "data", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Disk: disk("10Gi")}},
	}
	return w
}

func workload() *v1alpha.Workload {
	return &v1alpha.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: v1alpha.WorkloadSpec{
			Template: v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
				Runtime: v1alpha.InstanceRuntimeSpec{
					Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud/d1-standard-2"},
				},
				NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{
					Network: v1alpha.NetworkReference{Name: "default"},
					NetworkPolicy: &v1alpha.InterfaceNetworkPolicy{Ingress: []networkingv1.NetworkPolicyIngressRule{{
						Ports: []networkingv1.NetworkPolicyPort{{}},
						From: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{
							CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"},
						}}},
					}}},
				}},
			}},
			Placements: []v1alpha.WorkloadPlacement{{
				Name: "us", CityCodes: []string{"DFW"}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
			}},
		},
	}
}

func disk(size string) *v1alpha.DiskVolumeSource {
	return &v1alpha.DiskVolumeSource{Template: &v1alpha.DiskTemplate{Spec: v1alpha.DiskSpec{
		Resources: &v1alpha.DiskResourceRequirements{Requests: resources("storage", size)},
	}}}
}

func imageDisk(size string) *v1alpha.DiskVolumeSource {
	d := disk(size)
	d.Template.Spec.Populator = &v1alpha.DiskPopulator{Image: &v1alpha.ImageDiskPopulator{Name: "datumcloud/ubuntu-2404"}}
	return d
}

func filesystemDisk(size string) *v1alpha.DiskVolumeSource {
	d := disk(size)
	d.Template.Spec.Populator = &v1alpha.DiskPopulator{Filesystem: &v1alpha.FilesystemDiskPopulator{Type: "ext4"}}
	return d
}

// resources takes pairs of name and quantity.
func resources(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for pair := range slices.Chunk(pairs, 2) {
		list[corev1.ResourceName(pair[0])] = resource.MustParse(pair[1])
	}
	return list
}

func container(w *v1alpha.Workload) *v1alpha.SandboxContainer {
	return &w.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
}

func addContainer(w *v1alpha.Workload, added v1alpha.SandboxContainer) {
	runtime := w.Spec.Template.Spec.Runtime.Sandbox
	runtime.Containers = append(runtime.Containers, added)
}

func vm(w *v1alpha.Workload) *v1alpha.VirtualMachineRuntime {
	return w.Spec.Template.Spec.Runtime.VirtualMachine
}

func volume(w *v1alpha.Workload, index int) *v1alpha.InstanceVolume {
	return &w.Spec.Template.Spec.Volumes[index]
}

func scale(w *v1alpha.Workload) *v1alpha.HorizontalScaleSettings {
	return &w.Spec.Placements[0].ScaleSettings
}

func ingress(w *v1alpha.Workload) *networkingv1.NetworkPolicyIngressRule {
	return &w.Spec.Template.Spec.NetworkInterfaces[0].NetworkPolicy.Ingress[0]
}

func cpuMetric(target v1alpha.MetricTarget) []v1alpha.MetricSpec {
	return []v1alpha.MetricSpec{{Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: target}}}
}

var ed25519Key = publicKey("ssh-ed25519", 32)

// publicKey is a key of a type, with zeros for its parts.
func publicKey(kind string, lengths ...int) string {
	var parts [][]byte
	for _, length := range lengths {
		parts = append(parts, make([]byte, length))
	}
	return publicKeyOf(kind, parts...)
}

// publicKeyOf is a key of a type with these parts.
func publicKeyOf(kind string, parts ...[]byte) string {
	blob := lengthAndText(nil, []byte(kind))
	for _, part := range parts {
		blob = lengthAndText(blob, part)
	}
	return kind + " " + base64.StdEncoding.EncodeToString(blob) + " someone@example.com"
}

func lengthAndText(blob, text []byte) []byte {
	return append(binary.BigEndian.AppendUint32(blob, uint32(len(text))), text...)
}

// render is "path type" of each problem, as in cases.
func render(list field.ErrorList) []string {
	rendered := make([]string, 0, len(list))
	for _, problem := range list {
		rendered = append(rendered, problem.Field+" "+string(problem.Type))
	}
	return rendered
}

func wantProblems(t *testing.T, list field.ErrorList, want ...string) {
	t.Helper()
	got := render(list)
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("problems:\n  got:\n    %s\n  want:\n    %s\n  in full: %v",
			strings.Join(got, "\n    "), strings.Join(want, "\n    "), fmt.Sprint(list.ToAggregate()))
	}
}

// rule is a change of a valid Workload and its problems, none if it is allowed.
type rule struct {
	name   string
	base   func() *v1alpha.Workload
	change func(w *v1alpha.Workload)
	want   []string
}

func checkRules(t *testing.T, rules []rule) {
	t.Helper()
	for _, c := range rules {
		t.Run(c.name, func(t *testing.T) {
			base := c.base
			if base == nil {
				base = sandbox
			}
			w := base()
			c.change(w)
			before := w.DeepCopy()
			wantProblems(t, Workload(w, nil), c.want...)
			wantProblems(t, Workload(w, before))
		})
	}
}
