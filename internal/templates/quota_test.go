// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func TestQuotaGrants(t *testing.T) {
	ranges := []v1alpha.IndexRange{{First: 0, Last: 2}, {First: 5, Last: 5}}
	sized := func(vcpus, memory int64) *v1alpha.WorkloadDeploymentQuota {
		return &v1alpha.WorkloadDeploymentQuota{Granted: ranges, InstanceSize: &v1alpha.QuotaSize{VCPUs: vcpus, Memory: memory}}
	}
	unsized := &v1alpha.WorkloadDeploymentQuota{Granted: ranges}
	one := v1alpha.QuotaSize{VCPUs: 1000, Memory: 1024}
	tests := map[string]struct {
		quota *v1alpha.WorkloadDeploymentQuota
		index int
		size  v1alpha.QuotaSize
		want  bool
	}{
		"no quota":                  {nil, 7, one, true},
		"nothing is granted":        {&v1alpha.WorkloadDeploymentQuota{}, 0, one, false},
		"first of a range":          {unsized, 0, one, true},
		"last of a range":           {unsized, 2, one, true},
		"between ranges":            {unsized, 3, one, false},
		"alone in a range":          {unsized, 5, one, true},
		"of the granted size":       {sized(1000, 1024), 0, one, true},
		"smaller":                   {sized(2000, 2048), 0, one, true},
		"with more CPU":             {sized(999, 1024), 0, one, false},
		"with more memory":          {sized(1000, 1023), 0, one, false},
		"of what was not asked for": {sized(0, 0), 0, one, false},
		"without a size":            {sized(0, 0), 0, v1alpha.QuotaSize{}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := &v1alpha.WorkloadDeployment{Spec: v1alpha.WorkloadDeploymentSpec{Quota: test.quota}}
			if got := templates.QuotaGrants(d, test.index, test.size); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestQuotaSize(t *testing.T) {
	tests := map[string]struct {
		cpu, memory string
		want        v1alpha.QuotaSize
	}{
		"whole units":    {"2", "3Gi", v1alpha.QuotaSize{VCPUs: 2000, Memory: 3072}},
		"rounded up":     {"1u", "1", v1alpha.QuotaSize{VCPUs: 1, Memory: 1}},
		"decimal memory": {"100m", "1G", v1alpha.QuotaSize{VCPUs: 100, Memory: 954}},
		"nothing":        {"0", "0", v1alpha.QuotaSize{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			resources := corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(test.cpu), corev1.ResourceMemory: resource.MustParse(test.memory),
			}
			deployment, instance := &v1alpha.WorkloadDeployment{}, &v1alpha.Instance{}
			deployment.Spec.InstanceTypeResources = resources
			instance.Spec.Controller = &v1alpha.InstanceController{InstanceTypeResources: resources}
			if got := templates.SizeOfDeployment(deployment); got != test.want {
				t.Errorf("of a deployment: %+v", got)
			}
			if got := templates.SizeOfInstance(instance); got != test.want {
				t.Errorf("of an Instance: %+v", got)
			}
		})
	}
	if got := templates.SizeOfInstance((&v1alpha.Instance{})); got != (v1alpha.QuotaSize{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestQuotaWithheld(t *testing.T) {
	d := &v1alpha.WorkloadDeployment{}
	if templates.QuotaWithheld(d, 0) != nil {
		t.Error("withheld without a quota")
	}
	d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{Withheld: []v1alpha.QuotaWithheld{
		{Reason: "A", Indices: naming.Ranges([]int{1, 2})}, {Reason: "B", Indices: naming.Ranges([]int{4})},
	}}
	for index, want := range map[int]string{0: "", 1: "A", 2: "A", 3: "", 4: "B"} {
		got := ""
		if withheld := templates.QuotaWithheld(d, index); withheld != nil {
			got = withheld.Reason
		}
		if got != want {
			t.Errorf("%d: %q, want %q", index, got, want)
		}
	}
}
