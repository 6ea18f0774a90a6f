// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package policies_test

import (
	"maps"
	"slices"
	"testing"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
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
	placement := policies.CityPolicy("ns-1", policies.City{
		Code: "IAD", Cells: []string{"iad-3", "iad-2", "iad-1"}, Lost: []string{"iad-3", "iad-1"},
	}).Spec.Placement
	if placement.ReplicaSchedulingType() != policyv1alpha1.ReplicaSchedulingTypeDivided || len(placement.SpreadConstraints) > 0 ||
		placement.ReplicaScheduling.WeightPreference.DynamicWeight != policyv1alpha1.DynamicWeightByAvailableReplicas {
		t.Errorf("the placement is %+v", placement)
	}
	if len(placement.ClusterAffinities) != 1 || placement.ClusterAffinities[0].AffinityName != policies.GroupCity {
		t.Fatalf("the groups are %+v", placement.ClusterAffinities)
	}
	if got := placement.ClusterAffinities[0].ClusterNames; !slices.Equal(got, []string{"iad-1", "iad-2", "iad-3"}) {
		t.Errorf("the clusters are %v, so that a cell that leaves the city keeps what it runs", got)
	}
	if got := placement.ClusterAffinities[0].ExcludeClusters; !slices.Equal(got, []string{"iad-1", "iad-3"}) {
		t.Errorf("excluded are %v", got)
	}
}

// TestCityPolicyAvoidsCordonedCells: the group of all cells is the same with and without a cordon, so that Karmada does
// not schedule the deployments of that group again.
func TestCityPolicyAvoidsCordonedCells(t *testing.T) {
	city := policies.City{Code: "IAD", Cells: []string{"iad-3", "iad-2", "iad-1"}, Lost: []string{"iad-3"}}
	before := policies.CityPolicy("ns-1", city)
	city.Cordoned = []string{"iad-1"}
	after := policies.CityPolicy("ns-1", city)
	groups := after.Spec.Placement.ClusterAffinities
	if len(groups) != 2 || groups[0].AffinityName != policies.GroupSchedulable ||
		!slices.Equal(groups[0].ExcludeClusters, []string{"iad-1", "iad-3"}) {
		t.Fatalf("the groups are %+v", groups)
	}
	if !equality.Semantic.DeepEqual(groups[1], before.Spec.Placement.ClusterAffinities[0]) {
		t.Errorf("the group of all cells was %+v and is %+v", before.Spec.Placement.ClusterAffinities[0], groups[1])
	}
	if policies.Avoids(before, city.Cordoned) || !policies.Avoids(after, city.Cordoned) || policies.Avoids(after, []string{"iad-1", "iad-2"}) {
		t.Errorf("avoided before: %t, after: %t", policies.Avoids(before, city.Cordoned), policies.Avoids(after, city.Cordoned))
	}
}

// TestPoliciesOfOneCity: exactly one policy selects each deployment; the policy with dependencies selects deployments
// of earlier versions.
func TestPoliciesOfOneCity(t *testing.T) {
	with := policies.CityPolicy("ns-1", policies.City{Code: "DFW", Cells: []string{"dfw-1"}})
	without := policies.CityPolicy("ns-1", policies.City{Code: "DFW", Cells: []string{"dfw-1"}, Independent: true})
	if got := policies.CityPolicyNames("DFW"); !slices.Equal(got, []string{with.Name, without.Name}) || with.Name == without.Name {
		t.Errorf("the policies %s and %s have the names %v", with.Name, without.Name, got)
	}
	if !with.Spec.PropagateDeps || without.Spec.PropagateDeps {
		t.Errorf("dependencies are propagated: %t, and without: %t", with.Spec.PropagateDeps, without.Spec.PropagateDeps)
	}
	if !equality.Semantic.DeepEqual(with.Spec.Placement, without.Spec.Placement) {
		t.Errorf("the placements are %+v and %+v", with.Spec.Placement, without.Spec.Placement)
	}
	for value, want := range map[string]bool{"": true, "some": true, v1alpha.DependenciesNone: false} {
		set := labels.Set{v1alpha.LabelTopologyCity: "dfw"}
		if value != "" {
			set[v1alpha.LabelDependencies] = value
		}
		if got := selects(t, with, set); got != want {
			t.Errorf("with the label %q, the one with dependencies selects it: %t", value, got)
		}
		if got := selects(t, without, set); got == want {
			t.Errorf("with the label %q, the one without selects it: %t", value, got)
		}
		set[v1alpha.LabelTopologyCity] = "ord"
		if selects(t, with, set) || selects(t, without, set) {
			t.Errorf("with the label %q, a deployment of another city is selected", value)
		}
	}
}

func selects(t *testing.T, policy *policyv1alpha1.PropagationPolicy, set labels.Set) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(policy.Spec.ResourceSelectors[0].LabelSelector)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(set)
}

func TestClaim(t *testing.T) {
	policy := policies.CityPolicy("ns-1", policies.City{Code: "DFW"})
	copied := &v1alpha.WorkloadDeployment{}
	if policies.Claim(copied, policy); len(copied.Labels) > 0 || len(copied.Annotations) > 0 {
		t.Errorf("a policy without an ID claims %+v", copied.ObjectMeta)
	}
	policy.Labels[policyv1alpha1.PropagationPolicyPermanentIDLabel] = "1"
	policies.Claim(copied, policy)
	if want := map[string]string{"propagationpolicy.karmada.io/permanent-id": "1"}; !maps.Equal(copied.Labels, want) {
		t.Errorf("labels are %v", copied.Labels)
	}
	if want := map[string]string{
		"propagationpolicy.karmada.io/namespace": "ns-1", "propagationpolicy.karmada.io/name": "city-dfw",
	}; !maps.Equal(copied.Annotations, want) {
		t.Errorf("annotations are %v", copied.Annotations)
	}
}
