// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestValid(t *testing.T) {
	wantProblems(t, Workload(sandbox(), nil))
	wantProblems(t, Workload(machine(), nil))
}

func TestName(t *testing.T) {
	checkRules(t, []rule{
		{"63 characters", nil, func(w *v1alpha.Workload) { w.Name = strings.Repeat("a", 63) }, nil},
		{"64 characters", nil, func(w *v1alpha.Workload) { w.Name = strings.Repeat("a", 64) }, []string{"metadata.name " + invalid}},
		{"a subdomain", nil, func(w *v1alpha.Workload) { w.Name = "a.b" }, []string{"metadata.name " + invalid}},
		{"none", nil, func(w *v1alpha.Workload) { w.Name = "" }, []string{"metadata.name " + required}},
		{"generated", nil, func(w *v1alpha.Workload) { w.Name, w.GenerateName = "", "web-" }, nil},
		{
			"generated, wrongly", nil, func(w *v1alpha.Workload) { w.Name, w.GenerateName = "", "Web-" },
			[]string{"metadata.generateName " + invalid},
		},
	})
}

func TestPlacements(t *testing.T) {
	checkRules(t, []rule{
		{"none", nil, func(w *v1alpha.Workload) { w.Spec.Placements = nil }, []string{"spec.placements " + required}},
		{"name", nil, func(w *v1alpha.Workload) { w.Spec.Placements[0].Name = "US" }, []string{"spec.placements[0].name " + invalid}},
		{"no name", nil, func(w *v1alpha.Workload) { w.Spec.Placements[0].Name = "" }, []string{"spec.placements[0].name " + required}},
		{"another", nil, func(w *v1alpha.Workload) {
			w.Spec.Placements = append(w.Spec.Placements, w.Spec.Placements[0])
			w.Spec.Placements[1].Name = "eu"
		}, nil},
		{
			"same name", nil, func(w *v1alpha.Workload) { w.Spec.Placements = append(w.Spec.Placements, w.Spec.Placements[0]) },
			[]string{"spec.placements[1].name " + duplicate},
		},
		{
			"no city", nil, func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = nil },
			[]string{"spec.placements[0].cityCodes " + required},
		},
		{
			"empty city", nil, func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", ""} },
			[]string{"spec.placements[0].cityCodes[1] " + required},
		},
		{"two cities", nil, func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", "ORD"} }, nil},
		{
			"same city", nil, func(w *v1alpha.Workload) { w.Spec.Placements[0].CityCodes = []string{"DFW", "dfw"} },
			[]string{"spec.placements[0].cityCodes[1] " + duplicate},
		},
	})
}

func TestRollout(t *testing.T) {
	deadline := func(seconds int32) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			w.Spec.Rollout = &v1alpha.WorkloadRollout{ProgressDeadlineSeconds: &seconds}
		}
	}
	const path = "spec.rollout.progressDeadlineSeconds "
	checkRules(t, []rule{
		{"empty", nil, func(w *v1alpha.Workload) { w.Spec.Rollout = &v1alpha.WorkloadRollout{} }, nil},
		{"a second", nil, deadline(1), nil},
		{"no time", nil, deadline(0), []string{path + invalid}},
		{"less than none", nil, deadline(-1), []string{path + invalid}},
	})
}

func TestScale(t *testing.T) {
	half := v1alpha.MetricTarget{AverageUtilization: new(int32(50))}
	target := scalePath + "metrics[0].resource.target"
	with := func(target v1alpha.MetricTarget) func(w *v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			scale(w).MaxReplicas, scale(w).Metrics = new(int32(3)), cpuMetric(target)
		}
	}
	checkRules(t, []rule{
		{"minReplicas 0", nil, func(w *v1alpha.Workload) { scale(w).MinReplicas = 0 }, nil},
		{"minReplicas -1", nil, func(w *v1alpha.Workload) { scale(w).MinReplicas = -1 }, []string{scalePath + "minReplicas " + invalid}},
		{
			"metrics from 0", nil, func(w *v1alpha.Workload) { with(half)(w); scale(w).MinReplicas = 0 },
			[]string{scalePath + "minReplicas " + invalid},
		},
		{"minReplicas 5000", nil, func(w *v1alpha.Workload) { scale(w).MinReplicas = 5000 }, nil},
		{"minReplicas 5001", nil, func(w *v1alpha.Workload) { scale(w).MinReplicas = 5001 }, []string{scalePath + "minReplicas " + invalid}},
		{"maxReplicas", nil, with(half), nil},
		{
			"metrics without maxReplicas", nil, func(w *v1alpha.Workload) { with(half)(w); scale(w).MaxReplicas = nil },
			[]string{scalePath + "maxReplicas " + required},
		},
		{
			"maxReplicas without metrics", nil, func(w *v1alpha.Workload) { scale(w).MaxReplicas = new(int32(3)) },
			[]string{scalePath + "maxReplicas " + invalid},
		},
		{
			"maxReplicas below minReplicas", nil, func(w *v1alpha.Workload) { with(half)(w); scale(w).MinReplicas = 4 },
			[]string{scalePath + "maxReplicas " + invalid},
		},
		{
			"maxReplicas 5001", nil, func(w *v1alpha.Workload) { with(half)(w); scale(w).MaxReplicas = new(int32(5001)) },
			[]string{scalePath + "maxReplicas " + invalid},
		},
		{"Parallel", nil, func(w *v1alpha.Workload) { scale(w).InstanceManagementPolicy = v1alpha.Parallel }, nil},
		{
			"unknown policy", nil, func(w *v1alpha.Workload) { scale(w).InstanceManagementPolicy = "Random" },
			[]string{scalePath + "instanceManagementPolicy " + unsupported},
		},
		{
			"metric of nothing", nil, func(w *v1alpha.Workload) { scale(w).Metrics = []v1alpha.MetricSpec{{}} },
			[]string{scalePath + "metrics[0].resource " + required, scalePath + "maxReplicas " + required},
		},
		{"metric of memory", nil, func(w *v1alpha.Workload) { with(half)(w); scale(w).Metrics[0].Resource.Name = "memory" }, nil},
		{
			"metric of a disk", nil, func(w *v1alpha.Workload) { with(half)(w); scale(w).Metrics[0].Resource.Name = "ephemeral-storage" },
			[]string{scalePath + "metrics[0].resource.name " + unsupported},
		},
		{"no target", nil, with(v1alpha.MetricTarget{}), []string{target + " " + required}},
		{
			"two targets", nil, with(v1alpha.MetricTarget{Value: quantity("1"), AverageValue: quantity("1")}),
			[]string{target + ".value " + forbidden, target + " " + forbidden},
		},
		{"value", nil, with(v1alpha.MetricTarget{Value: quantity("100m")}), []string{target + ".value " + forbidden}},
		{"averageValue", nil, with(v1alpha.MetricTarget{AverageValue: quantity("1")}), nil},
		{"averageValue -1", nil, with(v1alpha.MetricTarget{AverageValue: quantity("-1")}), []string{target + ".averageValue " + invalid}},
		{
			"averageUtilization 0", nil, with(v1alpha.MetricTarget{AverageUtilization: new(int32(0))}),
			[]string{target + ".averageUtilization " + invalid},
		},
	})
}

func quantity(text string) *resource.Quantity {
	return new(resource.MustParse(text))
}

func TestAllProblemsAtOnce(t *testing.T) {
	w := sandbox()
	w.Name = "Web"
	w.Spec.Placements[0].CityCodes = nil
	scale(w).MinReplicas = -1
	container(w).Image = "no image"
	container(w).Ports[0].Port = 0
	volume(w, 2).Disk.Template.Spec.Resources.Requests = resources("storage", "9Gi")
	w.Spec.Template.Spec.NetworkInterfaces[0].Network.Name = "Default"
	wantProblems(t, Workload(w, nil),
		"metadata.name "+invalid,
		"spec.placements[0].cityCodes "+required,
		scalePath+"minReplicas "+invalid,
		containerPath+"image "+invalid,
		containerPath+"ports[0].port "+invalid,
		volumePath+"[2].disk.template.spec.resources.requests[storage] "+invalid,
		specPath+"networkInterfaces[0].network.name "+invalid,
	)
}

func TestNothing(t *testing.T) {
	w := &v1alpha.Workload{}
	wantProblems(t, Workload(w, nil),
		"metadata.name "+required,
		"spec.placements "+required,
		specPath+"networkInterfaces "+required,
		specPath+"runtime "+required,
	)
	if got := Warnings(w); len(got) > 0 {
		t.Errorf("warnings: %v", got)
	}
	if got := References(w); len(got) > 0 {
		t.Errorf("references: %v", got)
	}
}
