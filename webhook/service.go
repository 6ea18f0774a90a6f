// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// exposureWarnings return a warning if a Workload changes between two exposures, and cities of it lack what the new one needs.
// Settings that cannot be read in time give no warning.
func (v *Workloads) exposureWarnings(ctx context.Context, project Project, c *change) []string {
	if v.Lacking == nil || c.before == nil || !c.before.Spec.Service.Exposed() || !c.now.Spec.Service.Exposed() {
		return nil
	}
	before, wanted := c.before.Spec.Service.Exposure, c.now.Spec.Service.Exposure
	if before == wanted {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, warningTimeout)
	defer cancel()
	all := v.citiesOf(ctx, project, c)
	lacking, err := v.Lacking(ctx, all, wanted)
	if err != nil || len(lacking) == 0 {
		return nil
	}
	needed := "a load balancer"
	if wanted == v1alpha.ServiceExposureGateway {
		needed = "a Gateway"
	}
	result := "the names lose the addresses of these cities"
	if len(lacking) == len(all) {
		result = fmt.Sprintf("the Workload keeps exposure %s", before)
	}
	return []string{fmt.Sprintf("spec.service.exposure: no cell of %s has %s: %s until the operator sets annotation %s of the namespace of a "+
		"cell's Works on the hub", strings.Join(lacking, ", "), needed, result, v1alpha.AnnotationLoadBalancer)}
}

// citiesOf are the cities of a Workload, as far as the project's locations are known.
func (v *Workloads) citiesOf(ctx context.Context, project Project, c *change) []string {
	locations := c.places.locations
	if !c.places.known {
		// Without an answer, the codes of cities remain.
		locations, _, _ = v.Projects.Locations(ctx, project)
	}
	var result []string
	for i := range c.now.Spec.Placements {
		placement := &c.now.Spec.Placements[i]
		chosen := cities.Of(placement, c.now.Status.RecordOf(placement.Name), locations).Cities
		if placement.Spread == nil {
			chosen = slices.Concat(placement.CityCodes, chosen)
		}
		for _, city := range chosen {
			result = append(result, strings.ToUpper(naming.CityLabel(city)))
		}
	}
	slices.Sort(result)
	return slices.Compact(result)
}
