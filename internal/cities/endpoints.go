// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cities

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxAddresses is the most addresses of a city, as in the schema of CityEndpoint.
const maxAddresses = 32

// DistinctAddresses returns the different addresses, sorted, and at most as many as a CityEndpoint may have.
func DistinctAddresses(addresses ...v1alpha.EndpointAddress) []v1alpha.EndpointAddress {
	result := slices.Clone(addresses)
	slices.SortFunc(result, func(a, b v1alpha.EndpointAddress) int { return strings.Compare(a.Value, b.Value) })
	result = slices.Compact(result)
	return result[:min(len(result), maxAddresses)]
}

// ServingChanged reports whether endpoints differ in the cities that serve, or in their addresses: names follow them, so
// that such a change is written at once.
func ServingChanged(before, after []v1alpha.CityEndpoint) bool {
	return !slices.EqualFunc(before, after, func(a, b v1alpha.CityEndpoint) bool {
		return a.City == b.City && a.Serving == b.Serving && equality.Semantic.DeepEqual(a.Addresses, b.Addresses)
	})
}
