// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// spread validates the candidates of a placement. earlier are the placements before it: a city or a location of a placement with
// spread is in no other one, since both would fill it.
func (p *problems) spread(at place, placement *v1alpha.WorkloadPlacement, earlier []v1alpha.WorkloadPlacement) {
	p.shared(at, placement, earlier)
	spread := placement.Spread
	if spread == nil {
		return
	}
	at = at.child("spread")
	within(p, at.child("cities"), &spread.Cities, 1, maxCities)
	named := len(placement.CityCodes) + len(placement.Locations)
	if named > 0 && int(spread.Cities) > named {
		p.invalid(at.child("cities"), spread.Cities, fmt.Sprintf("the placement has %d candidates; name more, or reduce the number", named))
	}
	if spread.Failover != nil {
		p.failover(at.child("failover"), spread.Failover)
	}
	if spread.Overflow != nil {
		p.overflow(at, placement)
	}
}

// byHand validates what a consumer decides about candidates. A city that is no candidate decides nothing.
func (p *problems) byHand(at place, annotations map[string]string) {
	if _, err := cities.ParseByHand(annotations); err != nil {
		p.invalid(at, annotations[v1alpha.AnnotationLeaveCities], err.Error())
	}
}

func (p *problems) failover(at place, failover *v1alpha.PlacementFailover) {
	p.duration(at.child("after"), failover.After)
	p.duration(at.child("stableFor"), failover.StableFor)
	switch failover.Return {
	case "", v1alpha.ReturnWhenHealthy, v1alpha.ReturnNever:
	default:
		p.unsupported(at.child("return"), string(failover.Return), string(v1alpha.ReturnWhenHealthy), string(v1alpha.ReturnNever))
	}
}

// overflow validates when a city without capacity is replaced. An autoscaler that asks for more than a city can hold would move all
// Instances of the city.
func (p *problems) overflow(at place, placement *v1alpha.WorkloadPlacement) {
	p.duration(at.child("overflow").child("after"), placement.Spread.Overflow.After)
	if placement.Spread.Failover == nil {
		p.required(at.child("failover"), "overflow needs the rules of the return: set failover, at least to {}")
	}
	if spec := (&v1alpha.WorkloadDeploymentSpec{ScaleSettings: placement.ScaleSettings}); spec.Autoscaled() {
		p.invalid(at.child("overflow"), "", "the placement is scaled by metrics, which may ask for more Instances than any city has the "+
			"capacity for; remove overflow or scaleSettings.metrics")
	}
}

func (p *problems) duration(at place, duration *metav1.Duration) {
	if duration != nil && (duration.Duration < v1alpha.MinFailover || duration.Duration > v1alpha.MaxFailover) {
		p.invalid(at, duration.Duration.String(), fmt.Sprintf("must be from %s, the shortest time in which a lost city is noticed, to %s",
			v1alpha.MinFailover, v1alpha.MaxFailover))
	}
}

// shared validates that no city and no location of the placement is in an earlier one, if one of both has spread.
func (p *problems) shared(at place, placement *v1alpha.WorkloadPlacement, earlier []v1alpha.WorkloadPlacement) {
	const detail = "placement %q has it too; a city of a placement with spread may be in no other placement"
	for i := range earlier {
		other := &earlier[i]
		if other.Spread == nil && placement.Spread == nil {
			continue
		}
		for j, code := range placement.CityCodes {
			if slices.ContainsFunc(other.CityCodes, func(c string) bool { return strings.EqualFold(c, code) }) {
				p.invalid(at.child("cityCodes").item(j, strings.ToUpper(code)), code, fmt.Sprintf(detail, shorten(other.Name)))
			}
		}
		for j, location := range placement.Locations {
			if slices.Contains(other.Locations, location) {
				p.invalid(at.child("locations").item(j, location.Name).child("name"), location.Name, fmt.Sprintf(detail, shorten(other.Name)))
			}
		}
	}
}
