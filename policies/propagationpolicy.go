// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"slices"
	"strings"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// CityPolicyName is the name, in each hub namespace, of the PropagationPolicy of a city that propagates deployments with their
// dependencies.
func CityPolicyName(cityCode string) string {
	return naming.Shorten("city-" + naming.CityLabel(cityCode))
}

// IndependentCityPolicyName is the name of the one for deployments that have no dependencies. It cannot be that of another city.
func IndependentCityPolicyName(cityCode string) string {
	return naming.Shorten("independent-city-" + naming.CityLabel(cityCode))
}

// CityPolicyNames are the names of all policies that a city may have in a hub namespace.
func CityPolicyNames(cityCode string) []string {
	return []string{CityPolicyName(cityCode), IndependentCityPolicyName(cityCode)}
}

// City is what the policy of a city depends on.
type City struct {
	// Code of the city, in either case.
	Code string
	// Cells are the names of the city's cells.
	Cells []string
	// Lost are the cells that are given up: their Instances move to the other cells.
	Lost []string
	// Independent is the policy for deployments without dependencies: Karmada looks for those of every other one, and writes what
	// it found into its binding.
	Independent bool
}

// CityPolicy is the PropagationPolicy that sends the WorkloadDeployments of a city in a hub namespace to the city's cell, or
// divides their replicas among several cells by available resources. It selects Clusters whose city label is in lower or
// upper case.
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

// Claim marks a copy as propagated by a policy, as Karmada does when it finds the policy of an object. So Karmada neither looks for one
// nor writes the copy again, and a copy that gets dependencies goes from one policy to the other in one write. A policy without a
// permanent ID, which Karmada's webhook gives it, leaves that to Karmada.
func Claim(copied *v1alpha.WorkloadDeployment, policy *policyv1alpha1.PropagationPolicy) {
	id := policy.Labels[policyv1alpha1.PropagationPolicyPermanentIDLabel]
	if id == "" {
		return
	}
	metav1.SetMetaDataLabel(&copied.ObjectMeta, policyv1alpha1.PropagationPolicyPermanentIDLabel, id)
	metav1.SetMetaDataAnnotation(&copied.ObjectMeta, policyv1alpha1.PropagationPolicyNamespaceAnnotation, policy.Namespace)
	metav1.SetMetaDataAnnotation(&copied.ObjectMeta, policyv1alpha1.PropagationPolicyNameAnnotation, policy.Name)
}

func placement(city City) policyv1alpha1.Placement {
	label := naming.CityLabel(city.Code)
	result := policyv1alpha1.Placement{
		ClusterAffinity: &policyv1alpha1.ClusterAffinity{
			LabelSelector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{
					Key:      v1alpha.LabelTopologyCity,
					Operator: metav1.LabelSelectorOpIn,
					Values:   []string{label, strings.ToUpper(label)},
				}},
			},
			// The cells are named as well. Karmada may know of a cell earlier than the add-on, or of one that has left the city
			// later: it must not choose them. And it divides anew when the placement changes, not when a label does.
			ClusterNames:    slices.Sorted(slices.Values(city.Cells)),
			ExcludeClusters: slices.Sorted(slices.Values(city.Lost)),
		},
	}
	if len(city.Cells) > 1 {
		result.ReplicaScheduling = &policyv1alpha1.ReplicaSchedulingStrategy{
			ReplicaSchedulingType:     policyv1alpha1.ReplicaSchedulingTypeDivided,
			ReplicaDivisionPreference: policyv1alpha1.ReplicaDivisionPreferenceWeighted,
			WeightPreference:          &policyv1alpha1.ClusterPreferences{DynamicWeight: policyv1alpha1.DynamicWeightByAvailableReplicas},
		}
		return result
	}
	// The only cell gets all replicas, whether it has room now or not.
	result.SpreadConstraints = []policyv1alpha1.SpreadConstraint{{
		SpreadByField: policyv1alpha1.SpreadByFieldCluster,
		MinGroups:     1,
		MaxGroups:     1,
	}}
	return result
}
