// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package policies_test

import (
	"slices"
	"testing"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/policies"
)

func TestCityPolicy(t *testing.T) {
	policy := policies.CityPolicy("ns-1", policies.City{Code: "DFW", Cells: []string{"dfw-1"}})
	if policy.Name != "city-dfw" || policy.Namespace != "ns-1" {
		t.Errorf("it is %s/%s", policy.Namespace, policy.Name)
	}
	selector := policy.Spec.ResourceSelectors[0]
	if selector.Namespace != "ns-1" || selector.Kind != "WorkloadDeployment" || selector.APIVersion != "compute.datumapis.com/v1alpha" {
		t.Errorf("it selects %+v", selector)
	}
	matches := func(s *metav1.LabelSelector, city string) bool {
		parsed, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Matches(labels.Set{v1alpha.LabelTopologyCity: city})
	}
	for city, want := range map[string]bool{"dfw": true, "ord": false} {
		if got := matches(selector.LabelSelector, city); got != want {
			t.Errorf("deployments of %s are selected: %t", city, got)
		}
	}
	for city, want := range map[string]bool{"dfw": true, "DFW": true, "ord": false, "": false} {
		if got := matches(policy.Spec.Placement.ClusterAffinity.LabelSelector, city); got != want {
			t.Errorf("cells of %q are selected: %t", city, got)
		}
	}
}

func TestCityPolicyWithOneCell(t *testing.T) {
	policy := policies.CityPolicy("ns-1", policies.City{Code: "DFW", Cells: []string{"dfw-1"}})
	if got := policy.Spec.Placement.ClusterAffinity.ClusterNames; !slices.Equal(got, []string{"dfw-1"}) {
		t.Errorf("the clusters are %v, so that Karmada may choose another one than the only cell", got)
	}
	constraint := policy.Spec.Placement.SpreadConstraints[0]
	if constraint.MaxGroups != 1 || constraint.MinGroups != 1 {
		t.Errorf("a deployment goes to %d to %d cells", constraint.MinGroups, constraint.MaxGroups)
	}
	if policy.Spec.Placement.ReplicaScheduling != nil || len(policy.Spec.Placement.ClusterAffinity.ExcludeClusters) > 0 {
		t.Errorf("the placement is %+v", policy.Spec.Placement)
	}
}

func TestCityPolicyDivides(t *testing.T) {
	placement := policies.CityPolicy("ns-1", policies.City{Code: "IAD", Cells: []string{"iad-3", "iad-2", "iad-1"}, Lost: []string{"iad-3", "iad-1"}}).Spec.Placement
	if placement.ReplicaSchedulingType() != policyv1alpha1.ReplicaSchedulingTypeDivided || len(placement.SpreadConstraints) > 0 ||
		placement.ReplicaScheduling.WeightPreference.DynamicWeight != policyv1alpha1.DynamicWeightByAvailableReplicas {
		t.Errorf("the placement is %+v", placement)
	}
	if got := placement.ClusterAffinity.ClusterNames; !slices.Equal(got, []string{"iad-1", "iad-2", "iad-3"}) {
		t.Errorf("the clusters are %v, so that a cell that leaves the city keeps what it runs", got)
	}
	if got := placement.ClusterAffinity.ExcludeClusters; !slices.Equal(got, []string{"iad-1", "iad-3"}) {
		t.Errorf("excluded are %v", got)
	}
}
