// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policies has the objects that configure Karmada: the PropagationPolicy of a city and the registration of the
// interpreter webhook.
package policies

import (
	"embed"
	"slices"
	"strings"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// CityPolicyName is the name, in each hub namespace, of the PropagationPolicy of a city that propagates deployments
// with their dependencies.
func CityPolicyName(cityCode string) string {
	return naming.Shorten("city-" + naming.CityLabel(cityCode))
}

// IndependentCityPolicyName is the name of the policy for deployments without dependencies. It differs from the policy
// names of all other cities.
func IndependentCityPolicyName(cityCode string) string {
	return naming.Shorten("independent-city-" + naming.CityLabel(cityCode))
}

// CityPolicyNames are the names of all policies that a city may have in a hub namespace.
func CityPolicyNames(cityCode string) []string {
	return []string{CityPolicyName(cityCode), IndependentCityPolicyName(cityCode)}
}

// City is the input of a city's policy.
type City struct {
	// Code of the city, in either case.
	Code string
	// Cells are the names of the city's cells.
	Cells []string
	// Lost are the forgotten cells: their Instances move to the other cells.
	Lost []string
	// Cordoned are cells of which all nodes are cordoned: deployments that run there stay, and new ones go to the other
	// cells while these have capacity.
	Cordoned []string
	// Independent selects the policy for deployments without dependencies. For every other deployment, Karmada looks up
	// the dependencies and writes them into the deployment's binding.
	Independent bool
}

// CityPolicy is the PropagationPolicy that sends the WorkloadDeployments of a city in a hub namespace to the city's
// cell, or divides their replicas among several cells by available resources. It selects Clusters whose city label is
// in lower or upper case.
func CityPolicy(namespace string, city City) *policyv1alpha1.PropagationPolicy {
	label := naming.CityLabel(city.Code)
	name, selector := CityPolicyName(city.Code), metav1.LabelSelector{MatchLabels: map[string]string{v1alpha.LabelTopologyCity: label}}
	if city.Independent {
		name = IndependentCityPolicyName(city.Code)
		selector.MatchLabels[v1alpha.LabelDependencies] = v1alpha.DependenciesNone
	} else {
		selector.MatchExpressions = []metav1.LabelSelectorRequirement{{
			Key: v1alpha.LabelDependencies, Operator: metav1.LabelSelectorOpNotIn, Values: []string{v1alpha.DependenciesNone},
		}}
	}
	return &policyv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Name:      name,
			Namespace: namespace,
			Labels:    map[string]string{v1alpha.LabelTopologyCity: label},
		},
		Spec: policyv1alpha1.PropagationSpec{
			ResourceSelectors: []policyv1alpha1.ResourceSelector{{
				APIVersion:    v1alpha.GroupVersion.String(),
				Kind:          v1alpha.KindWorkloadDeployment,
				Namespace:     namespace,
				LabelSelector: &selector,
			}},
			// ConfigMaps and Secrets that a template names, and InstanceSlices, are propagated with the deployment.
			PropagateDeps: !city.Independent,
			Placement:     placement(city),
		},
	}
}

// Claim marks a copy as propagated by a policy, as Karmada does when it finds the policy of an object. So Karmada
// neither looks up a policy nor writes the copy again, and a copy that gets dependencies moves from one policy to the
// other in one write. If the policy has no permanent ID yet, which Karmada's webhook sets, Claim leaves the mark to
// Karmada.
func Claim(copied *v1alpha.WorkloadDeployment, policy *policyv1alpha1.PropagationPolicy) {
	id := policy.Labels[policyv1alpha1.PropagationPolicyPermanentIDLabel]
	if id == "" {
		return
	}
	metav1.SetMetaDataLabel(&copied.ObjectMeta, policyv1alpha1.PropagationPolicyPermanentIDLabel, id)
	metav1.SetMetaDataAnnotation(&copied.ObjectMeta, policyv1alpha1.PropagationPolicyNamespaceAnnotation, policy.Namespace)
	metav1.SetMetaDataAnnotation(&copied.ObjectMeta, policyv1alpha1.PropagationPolicyNameAnnotation, policy.Name)
}

// The names of the groups of cells in a city with several cells. Karmada schedules a new deployment into the first
// group with enough capacity, records the name in the deployment's binding, and never returns to an earlier group of
// the same policy.
const (
	// GroupSchedulable has the cells with a schedulable node. It exists while another cell of the city is cordoned.
	GroupSchedulable = "schedulable"
	// GroupCity has all cells.
	GroupCity = "city"
)

// Avoids reports whether a policy keeps new deployments out of cells.
func Avoids(policy *policyv1alpha1.PropagationPolicy, cells []string) bool {
	groups := policy.Spec.Placement.ClusterAffinities
	return len(groups) > 1 && !slices.ContainsFunc(cells, func(cell string) bool { return !slices.Contains(groups[0].ExcludeClusters, cell) })
}

func placement(city City) policyv1alpha1.Placement {
	if len(city.Cells) > 1 {
		return policyv1alpha1.Placement{
			ClusterAffinities: groups(city),
			ReplicaScheduling: &policyv1alpha1.ReplicaSchedulingStrategy{
				ReplicaSchedulingType:     policyv1alpha1.ReplicaSchedulingTypeDivided,
				ReplicaDivisionPreference: policyv1alpha1.ReplicaDivisionPreferenceWeighted,
				WeightPreference:          &policyv1alpha1.ClusterPreferences{DynamicWeight: policyv1alpha1.DynamicWeightByAvailableReplicas},
			},
		}
	}
	// The only cell gets all replicas, whether it has capacity now or not.
	return policyv1alpha1.Placement{
		ClusterAffinity: new(affinity(city, city.Lost)),
		SpreadConstraints: []policyv1alpha1.SpreadConstraint{{
			SpreadByField: policyv1alpha1.SpreadByFieldCluster,
			MinGroups:     1,
			MaxGroups:     1,
		}},
	}
}

// groups are the groups of a city's cells, in the order in which Karmada tries them.
func groups(city City) []policyv1alpha1.ClusterAffinityTerm {
	all := policyv1alpha1.ClusterAffinityTerm{AffinityName: GroupCity, ClusterAffinity: affinity(city, city.Lost)}
	if len(city.Cordoned) == 0 {
		return []policyv1alpha1.ClusterAffinityTerm{all}
	}
	excluded := slices.Concat(city.Lost, city.Cordoned)
	return []policyv1alpha1.ClusterAffinityTerm{{AffinityName: GroupSchedulable, ClusterAffinity: affinity(city, excluded)}, all}
}

func affinity(city City, excluded []string) policyv1alpha1.ClusterAffinity {
	label := naming.CityLabel(city.Code)
	selected := []metav1.LabelSelectorRequirement{{
		Key:      v1alpha.LabelTopologyCity,
		Operator: metav1.LabelSelectorOpIn,
		Values:   []string{label, strings.ToUpper(label)},
	}}
	if len(city.Cells) == 0 {
		// Without names, Karmada would choose every Cluster with the label, which need not be a cell of the city. This
		// selects none.
		selected = append(selected, metav1.LabelSelectorRequirement{Key: v1alpha.LabelTopologyCity, Operator: metav1.LabelSelectorOpDoesNotExist})
	}
	return policyv1alpha1.ClusterAffinity{
		LabelSelector: &metav1.LabelSelector{MatchExpressions: selected},
		// The cells are also named. Karmada may learn of a cell earlier than the add-on, or of a cell's departure from the
		// city later: it must not choose such a cell. And Karmada divides again when the placement changes, not when a label
		// does.
		ClusterNames:    slices.Sorted(slices.Values(city.Cells)),
		ExcludeClusters: slices.Sorted(slices.Values(excluded)),
	}
}

// Files are the static YAML files of this folder, by name.
//
//go:embed *.yaml
var Files embed.FS
