// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"strings"

	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// Locations returns one location in each city, such as dfw-1, in region us.
func Locations(codes string) []cities.Location {
	var result []cities.Location
	for city := range strings.FieldsSeq(codes) {
		result = append(result, cities.Location{
			Name: strings.ToLower(city) + "-1", City: city, Available: true, Topology: map[string]string{"topology.datum.net/region": "us"},
		})
	}
	return result
}
