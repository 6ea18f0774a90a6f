// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
)

// drainBeforeSteps lets traffic leave a city before a step of the rollout takes down its last Available Instance. A step
// of a city whose traffic has not left waits. Where no other city serves, clients have nowhere to go: nothing waits.
func (p *Plan) drainBeforeSteps() {
	p.rolling.leaving, p.rolling.draining = map[string]bool{}, map[string]bool{}
	for i, existing := range p.rolling.cities {
		p.rolling.leaving[existing.Name] = isReplaced(&p.rolling.state.Cities[i])
	}
	for _, step := range p.rolling.result.Take {
		existing := p.rolling.cities[step.City]
		if p.isHeld() || !p.goesDark(step) || !slices.ContainsFunc(p.keptBeside(existing), isServing) {
			continue
		}
		p.rolling.leaving[existing.Name], p.rolling.draining[existing.Name] = true, p.leave(existing).Phase != Free
	}
	p.explainDrains()
}

// explainDrains gives the message of a city whose step waits until its traffic has left.
func (p *Plan) explainDrains() {
	result := &p.rolling.result
	for _, step := range result.Take {
		if city := p.rolling.cities[step.City]; result.City == step.City && p.rolling.draining[city.Name] {
			result.Message = city.Spec.CityCode + ": its only Available Instance is replaced when traffic has left the city"
		}
	}
}

func isServing(endpoint v1alpha.CityEndpoint) bool {
	return endpoint.Serving && len(endpoint.Addresses) > 0
}

// goesDark reports whether a step lets the cells of a city take down all of its Available Instances at once.
func (p *Plan) goesDark(step rollout.Step) bool {
	city := &p.rolling.state.Cities[step.City]
	if step.Override != nil || step.Held || step.Surge > 0 || city.Surge > 0 {
		return false
	}
	room, partition := city.Room, &rollout.Partition{Index: step.Index, Indices: step.Indices}
	if step.Released {
		partition = nil
	}
	if step.Cautious {
		room = 1
	}
	return areAllTaken(city, room, func(i *rollout.Instance) bool {
		return !partition.Keeps(i.Index) && (city.Template != p.Template.Target || !i.Updated)
	})
}

// isReplaced reports whether the cells of a city may be about to take down all of its Available Instances: they have a
// template that the Instances do not have.
func isReplaced(city *rollout.City) bool {
	return city.Surge == 0 && areAllTaken(city, city.Room, func(i *rollout.Instance) bool {
		return !city.Partition.Keeps(i.Index) && (!i.Updated || !city.Observed)
	})
}

// areAllTaken reports whether a city has Available Instances, all of them are taken, and its cells take that many at once.
func areAllTaken(city *rollout.City, room int, taken func(*rollout.Instance) bool) bool {
	count := 0
	for i := range city.Instances {
		switch instance := &city.Instances[i]; {
		case !instance.Available:
		case !taken(instance):
			return false
		default:
			count++
		}
	}
	return count > 0 && count <= max(1, room)
}
