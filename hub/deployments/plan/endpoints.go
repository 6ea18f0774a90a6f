// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// Endpoints returns the endpoints of the deployments of a Workload, by city, as the status of the Workload shows them: a city
// serves if one of its deployments does. A deployment that the Workload no longer wants, or no longer exposes, counts until its
// traffic has left.
func Endpoints(deployments []v1alpha.WorkloadDeployment) []v1alpha.CityEndpoint {
	return endpointsOf(ByName(deployments))
}

// ByName has deployments by their names.
func ByName(deployments []v1alpha.WorkloadDeployment) map[string]*v1alpha.WorkloadDeployment {
	result := make(map[string]*v1alpha.WorkloadDeployment, len(deployments))
	for i := range deployments {
		result[deployments[i].Name] = &deployments[i]
	}
	return result
}

// endpointsOf are the endpoints of deployments, by city.
func endpointsOf(deployments map[string]*v1alpha.WorkloadDeployment) []v1alpha.CityEndpoint {
	byCity := map[string]v1alpha.CityEndpoint{}
	for _, name := range slices.Sorted(maps.Keys(deployments)) {
		deployment := deployments[name]
		if !deployment.DeletionTimestamp.IsZero() || !deployment.Spec.Service.Exposed() {
			continue
		}
		for i := range deployment.Status.Endpoints {
			endpoint := withoutLeaving(deployment, deployment.Status.Endpoints[i])
			if before, exists := byCity[endpoint.City]; exists {
				endpoint = merged(&before, &endpoint)
			}
			byCity[endpoint.City] = endpoint
		}
	}
	var result []v1alpha.CityEndpoint
	for _, city := range slices.Sorted(maps.Keys(byCity)) {
		result = append(result, byCity[city])
	}
	return result
}

// merged is the endpoint of a city with two deployments: of the one that serves, or that traffic does not leave, or the addresses of
// both.
func merged(a, b *v1alpha.CityEndpoint) v1alpha.CityEndpoint {
	leaves := func(e *v1alpha.CityEndpoint) bool { return e.Reason == v1alpha.EndpointLeaving }
	if a.Serving != b.Serving || leaves(a) != leaves(b) {
		if a.Serving || !b.Serving && leaves(b) {
			return *a.DeepCopy()
		}
		return *b.DeepCopy()
	}
	result := *a.DeepCopy()
	result.Addresses = cities.DistinctAddresses(slices.Concat(a.Addresses, b.Addresses)...)
	unrouted := slices.Sorted(strings.SplitSeq(strings.Trim(a.UnroutedHostnames+","+b.UnroutedHostnames, ","), ","))
	result.UnroutedHostnames = strings.Join(slices.Compact(unrouted), ",")
	// It serves since the first of them does, and does not since the last of them does not.
	if a.Serving == b.Since.Before(&a.Since) {
		result.Since = b.Since
	}
	return result
}
