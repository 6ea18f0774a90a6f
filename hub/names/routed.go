// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// routing are the endpoints of cities whose Gateways have a listener for a name. The others would answer 404.
func routing(endpoints []v1alpha.CityEndpoint, name string) []v1alpha.CityEndpoint {
	return slices.DeleteFunc(slices.Clone(endpoints), func(e v1alpha.CityEndpoint) bool {
		return slices.Contains(strings.Split(e.UnroutedHostnames, ","), name)
	})
}
