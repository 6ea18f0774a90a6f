// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// placed are the deployments that a Workload wants, and the obstacles to others.
type placed struct {
	intents []*intent
	// missing are messages about chosen locations that the project does not have, by placement.
	missing map[string][]string
	// blocked are messages about other obstacles to a deployment, by placement.
	blocked map[string][]string
	// unsized are the reasons why deployments have no size and are not created, by placement.
	unsized map[string]string
	// wanted are the placement and city of every deployment that the Workload requests, including deployments with an
	// obstacle.
	wanted map[[2]string]bool
	// phases are the states of placements with spread in their cities.
	phases map[[2]string]v1alpha.PlacementCityPhase
}

// intent is one deployment that the Workload wants.
type intent struct {
	placement *v1alpha.WorkloadPlacement
	// city is its code, in upper case, and name the name of the deployment.
	city, name string
	// existing is the deployment; nil: it does not exist.
	existing *v1alpha.WorkloadDeployment
	// template and resources are the template, and the size of its type, that it has when no rollout is in progress.
	template  *v1alpha.InstanceTemplateSpec
	resources corev1.ResourceList
	// phase is the state of a placement with spread in the city; "": all of its cities run.
	phase v1alpha.PlacementCityPhase
	// given are the templates that its Instances have or get now.
	given given
	// floor is its part of the disruption budget.
	floor *v1alpha.AvailabilityFloor
}

// place finds the deployments of a Workload: one per placement and city. A city that the project may not use gets none, but
// keeps an existing one: withdrawing a location must not stop running Instances.
func place(f *Facts) placed {
	result := placed{
		missing: map[string][]string{}, blocked: map[string][]string{}, unsized: map[string]string{}, wanted: map[[2]string]bool{},
		phases: map[[2]string]v1alpha.PlacementCityPhase{},
	}
	for i := range f.Workload.Spec.Placements {
		placement := &f.Workload.Spec.Placements[i]
		record := f.Workload.Status.RecordOf(placement.Name)
		for j := range record {
			if placement.Spread != nil {
				result.phases[keyOf(placement.Name, record[j].City)] = record[j].Phase
			}
		}
		choice := cities.Of(placement, record, f.Locations)
		if len(choice.Problems) > 0 {
			result.missing[placement.Name] = choice.Problems
		}
		if len(choice.Problems) > 0 && f.Unlocated != nil {
			result.missing[placement.Name] = []string{f.Unlocated.Error()}
		}
		for _, city := range choice.Cities {
			result.want(f, placement, city)
		}
		for _, city := range keptCities(placement, &choice, f.Deployments) {
			if name := naming.DeploymentName(f.Workload.Name, placement.Name, city); f.Deployments[name] != nil {
				result.want(f, placement, city)
			} else {
				result.wanted[keyOf(placement.Name, city)] = true
			}
		}
	}
	return result
}

// keptCities returns the cities of a placement that get no deployment and keep their existing one.
func keptCities(placement *v1alpha.WorkloadPlacement, choice *cities.Choice, existing map[string]*v1alpha.WorkloadDeployment) []string {
	kept := slices.Clone(choice.Held)
	if !choice.Unresolved {
		return kept
	}
	for _, deployment := range existing {
		city := strings.ToUpper(deployment.Spec.CityCode)
		if deployment.Spec.PlacementName == placement.Name && !slices.Contains(choice.Cities, city) && !slices.Contains(kept, city) {
			kept = append(kept, city)
		}
	}
	slices.Sort(kept)
	return kept
}

// want adds a deployment of a placement in a city, unless another one has its name.
func (p *placed) want(f *Facts, placement *v1alpha.WorkloadPlacement, city string) {
	p.wanted[keyOf(placement.Name, city)] = true
	i := &intent{
		placement: placement, city: strings.ToUpper(city), name: naming.DeploymentName(f.Workload.Name, placement.Name, city),
		template: &f.Workload.Spec.Template, phase: p.phases[keyOf(placement.Name, city)],
	}
	holder := f.Taken[i.name]
	if existing := f.Deployments[i.name]; existing != nil {
		if holder = existing; Describes(f.Workload, placement.Name, city, existing) {
			i.existing, holder = existing, nil
		}
	}
	for _, earlier := range p.intents {
		if earlier.name == i.name {
			holder = earlier.object(f.Workload)
		}
	}
	if i.existing == nil && i.isReplaced() {
		// A city that was replaced keeps its deployment, and gets no other one.
		return
	}
	if holder != nil {
		p.block(i, fmt.Sprintf("deployment name %s is taken by placement %q in %s of Workload %q; rename the placement",
			i.name, holder.Spec.PlacementName, holder.Spec.CityCode, holder.Spec.WorkloadRef.Name))
		return
	}
	p.intents = append(p.intents, i)
}

func (p *placed) block(i *intent, message string) {
	p.blocked[i.placement.Name] = append(p.blocked[i.placement.Name], message)
}

func (p *placed) wants(existing *v1alpha.WorkloadDeployment) bool {
	return p.wanted[keyOf(existing.Spec.PlacementName, existing.Spec.CityCode)]
}

// isReplaced reports whether another city runs the Instances of this one: its deployment stays as it is.
func (i *intent) isReplaced() bool { return isReplacedIn(i.phase) }

func isReplacedIn(phase v1alpha.PlacementCityPhase) bool {
	return phase == v1alpha.CityLost || phase == v1alpha.CityLeaving
}

// phaseOf is the state of the placement of a deployment in its city; "": its placement has no spread.
func (p *placed) phaseOf(d *v1alpha.WorkloadDeployment) v1alpha.PlacementCityPhase {
	return p.phases[keyOf(d.Spec.PlacementName, d.Spec.CityCode)]
}

// isCounted reports whether the Instances of a phase are among the ones that the Workload asks for.
func isCounted(phase v1alpha.PlacementCityPhase) bool {
	return phase == "" || phase == v1alpha.CityRunning
}

func keyOf(placement, city string) [2]string { return [2]string{placement, naming.CityLabel(city)} }

// Describes reports whether a deployment is the one of a Workload, placement and city. Others may result in the same name.
func Describes(workload *v1alpha.Workload, placement, city string, d *v1alpha.WorkloadDeployment) bool {
	return d.Spec.WorkloadRef.UID == workload.UID && keyOf(d.Spec.PlacementName, d.Spec.CityCode) == keyOf(placement, city)
}

// Names are the names of the deployments that the Workload wants.
func Names(f *Facts) []string {
	var names []string
	placed := place(f)
	for _, i := range placed.intents {
		names = append(names, i.name)
	}
	return names
}

// Wants reports whether a Workload in a project with these locations wants a deployment, which may be deleted already. While the choice
// among candidates is not recorded, it may be any of them.
func Wants(workload *v1alpha.Workload, locations []cities.Location, d *v1alpha.WorkloadDeployment) bool {
	workload = workload.DeepCopy()
	for i := range workload.Spec.Placements {
		if p := &workload.Spec.Placements[i]; len(workload.Status.RecordOf(p.Name)) == 0 {
			p.Spread = nil
		}
	}
	placed := place(&Facts{Workload: workload, Locations: locations})
	return slices.ContainsFunc(placed.intents, func(i *intent) bool {
		return i.name == d.Name && Describes(workload, i.placement.Name, i.city, d)
	})
}
