// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// revised returns a copy as Karmada sends it to a cell, after the hub has written about it what it intends.
func revised(t *testing.T, d *v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	t.Helper()
	intended, err := templates.Intended(&d.Spec)
	if err != nil {
		t.Fatal(err)
	}
	d.Annotations = map[string]string{v1alpha.AnnotationIntended: intended}
	if d.Spec.Quota != nil {
		if d.Annotations[v1alpha.AnnotationIntendedQuota], err = templates.IntendedQuota(d.Spec.Quota); err != nil {
			t.Fatal(err)
		}
	}
	result, err := scripted(t, configv1alpha1.InterpreterOperationReviseReplica, &golden{Object: encoded(t, d), Replicas: new(int32(2))})
	if err != nil {
		t.Fatal(err)
	}
	sent := &v1alpha.WorkloadDeployment{}
	if err := json.Unmarshal(encoded(t, result["object"]), sent); err != nil {
		t.Fatal(err)
	}
	return sent
}

// TestCellsGetWhatTheHubIntends: Karmada drops empty lists and objects on the path, and a cell must not take that for an
// override.
func TestCellsGetWhatTheHubIntends(t *testing.T) {
	metrics := []v1alpha.MetricSpec{
		{Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(50))}}},
		{Resource: &v1alpha.ResourceMetricSource{Name: "memory", Target: v1alpha.MetricTarget{AverageValue: new(resource.MustParse("0.5Gi"))}}},
	}
	indices := []v1alpha.IndexRange{{First: 0, Last: 0}, {First: 2, Last: 9999}}
	for name, spec := range map[string]v1alpha.WorkloadDeploymentSpec{
		"nothing": {},
		"empty structs": {
			Quota: &v1alpha.WorkloadDeploymentQuota{}, Networks: &v1alpha.WorkloadDeploymentNetworks{},
			Assignment: &v1alpha.WorkloadDeploymentAssignment{}, Rollout: &v1alpha.WorkloadRollout{}, Floor: &v1alpha.AvailabilityFloor{},
			Partition: &v1alpha.WorkloadDeploymentPartition{},
		},
		"empty lists": {
			Quota: &v1alpha.WorkloadDeploymentQuota{Granted: []v1alpha.IndexRange{}, Withheld: []v1alpha.QuotaWithheld{{Reason: "QuotaExceeded"}}},
			Assignment: &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{{
				Name: "dfw", Indices: []v1alpha.IndexRange{}, MinReplicas: new(int32(0)), Floor: &v1alpha.AvailabilityFloor{},
			}}},
		},
		"everything": {
			Quota: &v1alpha.WorkloadDeploymentQuota{
				InstanceSize: &v1alpha.QuotaSize{VCPUs: 1500, Memory: 2048}, Granted: indices,
				Withheld: []v1alpha.QuotaWithheld{{Reason: "QuotaExceeded", Message: "é…", Indices: indices}},
			},
			Networks: &v1alpha.WorkloadDeploymentNetworks{Message: "network default does not exist"},
			Rollout:  &v1alpha.WorkloadRollout{MaxUnavailable: new(intstr.FromString("25%"))},
			ScaleSettings: v1alpha.HorizontalScaleSettings{
				MinReplicas: 1, MaxReplicas: new(int32(5)), Metrics: metrics,
			},
			MinReadySeconds: new(int32(10)), Floor: &v1alpha.AvailabilityFloor{MinAvailable: 240000, Sequence: 1 << 50}, Slices: 3,
			Assignment: &v1alpha.WorkloadDeploymentAssignment{FloorSequence: 7, Cells: []v1alpha.CellAssignment{{
				Name: "dfw", Releasing: indices, LeavingSince: new(metav1.NewMicroTime(time.Unix(1700000000, 123456789))),
			}}},
			Partition: &v1alpha.WorkloadDeploymentPartition{Index: 10000},
		},
	} {
		if got := templates.OverriddenFields(revised(t, &v1alpha.WorkloadDeployment{Spec: spec})); len(got) > 0 {
			t.Errorf("with %s a cell refuses %v", name, got)
		}
	}

	g, checked := newGenerator(*seed), 0
	for range *cases / 4 {
		d := &v1alpha.WorkloadDeployment{}
		if json.Unmarshal(g.deployment(t, configv1alpha1.InterpreterOperationReviseReplica), d) != nil {
			continue
		}
		checked++
		if got := templates.OverriddenFields(revised(t, d)); len(got) > 0 {
			t.Fatalf("with seed %d a cell refuses %v of\n%s", *seed, got, encoded(t, d.Spec))
		}
	}
	if checked == 0 {
		t.Error("no random case is valid")
	}
	changed := &v1alpha.WorkloadDeployment{Spec: v1alpha.WorkloadDeploymentSpec{Quota: &v1alpha.WorkloadDeploymentQuota{Granted: indices}}}
	sent := revised(t, changed)
	sent.Spec.Quota.Granted[0].Last, sent.Spec.Suspended = 1, true
	if got := templates.OverriddenFields(sent); !slices.Equal(got, []string{"quota", "suspended"}) {
		t.Errorf("a cell refuses %v", got)
	}
}
