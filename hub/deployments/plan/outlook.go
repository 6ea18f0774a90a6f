// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
)

// Outlook describes the rollout of a Workload as its plan leaves it.
type Outlook struct {
	// State is the input of the decision, and Steps its result.
	State rollout.State
	Steps rollout.Steps
	// Budget is the disruption budget; nil: the Workload has none.
	Budget *rollout.Budget
	// Created are the names of deployments that do not exist yet, by their cities, in the order of the placements. They get the
	// target, unless Earlier says that they get the earlier template until their turn.
	Created []Place
	Earlier bool
	// Removed are the deployments that the Workload does not want any more, by name.
	Removed []Place
}

// Place is a deployment and its city.
type Place struct{ City, Deployment string }

// Outlook describes the rollout. Before the choice among candidates is stored, it is empty.
func (p *Plan) Outlook() Outlook {
	if len(p.Writes) > 0 && p.Writes[0].Kind == Choose {
		return Outlook{}
	}
	result := Outlook{
		State: p.rolling.state, Steps: p.rolling.result, Budget: p.knownBudget(),
		Earlier: rollout.Newcomer(&p.rolling.state) != p.Template.Target,
	}
	for _, i := range p.intents {
		if i.existing == nil {
			result.Created = append(result.Created, Place{i.city, i.name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Deployments)) {
		if d := p.Deployments[name]; !p.wants(d) {
			result.Removed = append(result.Removed, Place{d.Spec.CityCode, name})
		}
	}
	return result
}
