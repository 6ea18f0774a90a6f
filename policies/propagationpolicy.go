// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"strings"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// CityPolicyName is the name of the PropagationPolicy of a city in each hub namespace.
func CityPolicyName(cityCode string) string {
	return v1alpha.ShortenName("city-" + v1alpha.CityLabel(cityCode))
}

// CityPolicy is the PropagationPolicy that sends the WorkloadDeployments of a city in a hub namespace to one cell of
// that city. Operators may label their Clusters with the city in either case.
func CityPolicy(namespace, cityCode string) *policyv1alpha1.PropagationPolicy {
	city := v1alpha.CityLabel(cityCode)
	return &policyv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Name:      CityPolicyName(cityCode),
			Namespace: namespace,
			Labels:    map[string]string{v1alpha.LabelTopologyCity: city},
		},
		Spec: policyv1alpha1.PropagationSpec{
			ResourceSelectors: []policyv1alpha1.ResourceSelector{{
				APIVersion: v1alpha.GroupVersion.String(),
				Kind:       "WorkloadDeployment",
				Namespace:  namespace,
				LabelSelector: &metav1.LabelSelector{
					MatchLabels: map[string]string{v1alpha.LabelTopologyCity: city},
				},
			}},
			// ConfigMaps and Secrets that a template names follow the deployment.
			PropagateDeps: true,
			Placement: policyv1alpha1.Placement{
				ClusterAffinity: &policyv1alpha1.ClusterAffinity{
					LabelSelector: &metav1.LabelSelector{
						MatchExpressions: []metav1.LabelSelectorRequirement{{
							Key:      v1alpha.LabelTopologyCity,
							Operator: metav1.LabelSelectorOpIn,
							Values:   []string{city, strings.ToUpper(city)},
						}},
					},
				},
				// A deployment runs whole in one cell: two that ran it each would make every Instance twice.
				SpreadConstraints: []policyv1alpha1.SpreadConstraint{{
					SpreadByField: policyv1alpha1.SpreadByFieldCluster,
					MinGroups:     1,
					MaxGroups:     1,
				}},
			},
		},
	}
}
