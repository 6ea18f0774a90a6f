// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// addressesOf returns the addresses of endpoints; with serving, only the addresses of cities that serve.
func addressesOf(endpoints []v1alpha.CityEndpoint, serving bool) []string {
	var addresses []string
	for i := range endpoints {
		if serving && !endpoints[i].Serving {
			continue
		}
		for _, address := range endpoints[i].Addresses {
			if text := reasons.Clean(address.Value); !slices.Contains(addresses, text) {
				addresses = append(addresses, text)
			}
		}
	}
	return addresses
}

// reachedAt returns the addresses of a deployment, and why its city does not serve.
func reachedAt(endpoints []v1alpha.CityEndpoint) string {
	var texts []string
	for i := range endpoints {
		text := strings.Join(addressesOf(endpoints[i:i+1], false), ", ")
		if !endpoints[i].Serving {
			text = strings.TrimSpace(fmt.Sprintf("%s not serving: %s", text, reasons.Clean(endpoints[i].Reason)))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// reached returns a sentence for each city about its addresses; "" for a Workload without them.
func reached(workload *v1alpha.Workload) string {
	if workload == nil {
		return ""
	}
	var text strings.Builder
	for i := range workload.Status.Endpoints {
		endpoint := &workload.Status.Endpoints[i]
		city := reasons.Clean(endpoint.City)
		if endpoint.Serving {
			fmt.Fprintf(&text, " %s serves at %s.", city, strings.Join(addressesOf(workload.Status.Endpoints[i:i+1], true), ", "))
			continue
		}
		why := strings.TrimSuffix(strings.TrimSpace(endpoint.Reason+" "+endpoint.Message), ".")
		fmt.Fprintf(&text, " %s does not serve: %s.", city, reasons.Clean(why))
	}
	return text.String()
}
