// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxAddresses is the most addresses of a city.
const maxAddresses = 32

// addEndpoints sums up the endpoints of the deployments, by city: a city serves if one of its deployments does. A
// deployment that the Workload no longer wants counts while it exists: its Instances still run.
func (s *scope) addEndpoints(status *v1alpha.WorkloadStatus) {
	if !s.workload.Spec.Service.Exposed() {
		return
	}
	status.Endpoints = endpointsOf(s.existing)
}

// endpointsOf are the endpoints of deployments, by city.
func endpointsOf(deployments map[string]*v1alpha.WorkloadDeployment) []v1alpha.CityEndpoint {
	cities := map[string]v1alpha.CityEndpoint{}
	for _, name := range slices.Sorted(maps.Keys(deployments)) {
		deployment := deployments[name]
		if !deployment.DeletionTimestamp.IsZero() {
			continue
		}
		for i := range deployment.Status.Endpoints {
			one := withoutLeaving(deployment, deployment.Status.Endpoints[i])
			if before, exists := cities[one.City]; exists {
				one = merged(&before, &one)
			}
			cities[one.City] = one
		}
	}
	var result []v1alpha.CityEndpoint
	for _, city := range slices.Sorted(maps.Keys(cities)) {
		result = append(result, cities[city])
	}
	return result
}

// merged is the endpoint of a city with two deployments: the addresses of the ones that serve, or of both.
func merged(a, b *v1alpha.CityEndpoint) v1alpha.CityEndpoint {
	if a.Serving != b.Serving {
		if a.Serving {
			return *a.DeepCopy()
		}
		return *b.DeepCopy()
	}
	result := *a.DeepCopy()
	for _, address := range b.Addresses {
		if !slices.Contains(result.Addresses, address) && len(result.Addresses) < maxAddresses {
			result.Addresses = append(result.Addresses, address)
		}
	}
	slices.SortFunc(result.Addresses, func(x, y v1alpha.EndpointAddress) int { return strings.Compare(x.Value, y.Value) })
	// It serves since the first of them does, and does not since the last of them does not.
	if a.Serving == b.Since.Before(&a.Since) {
		result.Since = b.Since
	}
	return result
}

// servingChanged reports whether endpoints differ in the cities that serve, or in their addresses.
func servingChanged(before, after []v1alpha.CityEndpoint) bool {
	return !slices.EqualFunc(before, after, func(a, b v1alpha.CityEndpoint) bool {
		return a.City == b.City && a.Serving == b.Serving && equality.Semantic.DeepEqual(a.Addresses, b.Addresses)
	})
}
