// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestDefault(t *testing.T) {
	tcp := new(corev1.ProtocolTCP)
	for name, c := range map[string]struct {
		base func() *v1alpha.Workload
		set  func(want *v1alpha.Workload)
	}{
		"sandbox": {sandbox, func(want *v1alpha.Workload) {
			scale(want).InstanceManagementPolicy = v1alpha.OrderedReady
			container(want).Ports[0].Protocol = tcp
			volume(want, 0).ConfigMap.DefaultMode = new(int32(420))
			volume(want, 1).Secret.DefaultMode = new(int32(420))
			volume(want, 2).Disk.Template.Spec.Type = "pd-standard"
			ingress(want).Ports[0].Protocol = tcp
		}},
		"virtual machine": {machine, func(want *v1alpha.Workload) {
			scale(want).InstanceManagementPolicy = v1alpha.OrderedReady
			vm(want).Ports[0].Protocol = tcp
			volume(want, 0).Disk.Template.Spec.Type = "pd-standard"
			volume(want, 1).Disk.Template.Spec.Type = "pd-standard"
			ingress(want).Ports[0].Protocol = tcp
		}},
		"what is said stays": {func() *v1alpha.Workload {
			w := sandbox()
			w.Spec.Placements[0].CityCodes = []string{"dfw"}
			scale(w).InstanceManagementPolicy = v1alpha.Parallel
			container(w).Ports[0].Protocol = new(corev1.ProtocolUDP)
			volume(w, 0).ConfigMap.DefaultMode = new(int32(0))
			volume(w, 1).Secret.DefaultMode = new(int32(0o400))
			volume(w, 2).Disk.Template.Spec.Type = "other"
			ingress(w).Ports[0].Protocol = new(corev1.ProtocolSCTP)
			return w
		}, func(*v1alpha.Workload) {}},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := c.base(), c.base()
			c.set(want)
			for range 2 {
				Default(got)
				if !equality.Semantic.DeepEqual(got, want) {
					t.Fatalf("got %+v, want %+v", got.Spec, want.Spec)
				}
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	image := func(image string) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).Image = image }
	}
	metric := cpuMetric(v1alpha.MetricTarget{AverageUtilization: new(int32(50))})
	another := func(cities ...string) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			w.Spec.Placements = append(w.Spec.Placements, v1alpha.WorkloadPlacement{Name: "eu", CityCodes: cities})
		}
	}
	for name, c := range map[string]struct {
		change func(w *v1alpha.Workload)
		want   []string
	}{
		"none":                    {func(*v1alpha.Workload) {}, nil},
		"latest":                  {image("docker.io/nginx:latest"), []string{containerPath + "image"}},
		"no tag":                  {image("docker.io/nginx"), []string{containerPath + "image"}},
		"no registry":             {image("nginx:1"), []string{containerPath + "image"}},
		"no registry, no tag":     {image("nginx"), []string{containerPath + "image", containerPath + "image"}},
		"latest by digest":        {image("docker.io/nginx:latest@sha256:" + strings.Repeat("a", 64)), nil},
		"no image":                {image("no image"), nil},
		"maxReplicas":             {func(w *v1alpha.Workload) { scale(w).MaxReplicas, scale(w).Metrics = new(int32(2)), metric }, nil},
		"maxReplicas = min":       {func(w *v1alpha.Workload) { scale(w).MaxReplicas, scale(w).Metrics = new(int32(1)), metric }, []string{scalePath + "maxReplicas"}},
		"other city":              {another("ORD"), nil},
		"same city":               {another("ORD", "dfw"), []string{"spec.placements[1].cityCodes[1]"}},
		"same city in one":        {func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", "dfw"} }, nil},
		"virtual machine, no tag": {func(w *v1alpha.Workload) { *w = *machine() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := sandbox()
			c.change(w)
			got := Warnings(w)
			var paths []string
			for _, warning := range got {
				path, _, _ := strings.Cut(warning, ": ")
				paths = append(paths, path)
			}
			if !slices.Equal(paths, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	withInterfaces := machine()
	withInterfaces.Spec.Template.Spec.NetworkInterfaces = []v1alpha.InstanceNetworkInterface{
		{Network: v1alpha.NetworkReference{Name: "a"}}, {}, {Network: v1alpha.NetworkReference{Name: "a"}}, {Network: v1alpha.NetworkReference{Name: "b"}},
	}
	sameName := sandbox()
	volume(sameName, 1).Secret.SecretName = "settings"
	const network, configMap, secret = "use networks.networking.datumapis.com ", "get configmaps. ", "get secrets. "
	inSandbox := []string{
		network + "default " + specPath + "networkInterfaces[0].network.name",
		secret + "registry " + sandboxPath + "imagePullSecrets[0].name",
		configMap + "settings " + containerPath + "env[1].valueFrom.configMapKeyRef.name",
		secret + "password " + containerPath + "env[2].valueFrom.secretKeyRef.name",
	}
	for name, c := range map[string]struct {
		workload *v1alpha.Workload
		want     []string
	}{
		"sandbox":                              {sandbox(), append(slices.Clone(inSandbox), secret+"token "+volumePath+"[1].secret.secretName")},
		"a Secret and a ConfigMap of one name": {sameName, append(slices.Clone(inSandbox), secret+"settings "+volumePath+"[1].secret.secretName")},
		"virtual machine": {withInterfaces, []string{
			network + "a " + specPath + "networkInterfaces[0].network.name",
			network + "b " + specPath + "networkInterfaces[3].network.name",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range References(c.workload) {
				got = append(got, r.Verb+" "+r.Resource+"."+r.Group+" "+r.Name+" "+r.Path.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
