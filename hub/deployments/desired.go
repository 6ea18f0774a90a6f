// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// plan holds the desired deployments of a Workload, and the obstacles to others.
type plan struct {
	deployments []*v1alpha.WorkloadDeployment
	// missing are messages about chosen locations that the project does not have, by placement.
	missing map[string][]string
	// blocked are messages about other obstacles to a deployment, by placement.
	blocked map[string][]string
	// unsized are the reasons why deployments have no size and are not created, by placement.
	unsized map[string]string
	// wanted are the placement and city of every deployment that the Workload requests, including deployments with an
	// obstacle.
	wanted map[[2]string]bool
}

// makePlan builds one deployment per placement and city. A city that the project may not use gets none, but keeps an
// existing one: withdrawing a location must not stop running Instances.
func makePlan(workload *v1alpha.Workload, locations []cities.Location, existing map[string]*v1alpha.WorkloadDeployment) plan {
	result := plan{missing: map[string][]string{}, blocked: map[string][]string{}, unsized: map[string]string{}, wanted: map[[2]string]bool{}}
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		choice := cities.Choose(placement, locations)
		if len(choice.Problems) > 0 {
			result.missing[placement.Name] = choice.Problems
		}
		for _, city := range choice.Cities {
			result.want(placement, city)
			result.deployments = append(result.deployments, buildDeployment(workload, placement, city))
		}
		for _, city := range heldCities(placement, &choice, existing) {
			result.want(placement, city)
			if desired := buildDeployment(workload, placement, city); existing[desired.Name] != nil {
				result.deployments = append(result.deployments, desired)
			}
		}
	}
	return result
}

// heldCities returns the cities of a placement that get no deployment and keep their existing one.
func heldCities(placement *v1alpha.WorkloadPlacement, choice *cities.Choice, existing map[string]*v1alpha.WorkloadDeployment) []string {
	held := slices.Clone(choice.Held)
	if !choice.Unresolved {
		return held
	}
	for _, deployment := range existing {
		city := strings.ToUpper(deployment.Spec.CityCode)
		if deployment.Spec.PlacementName == placement.Name && !slices.Contains(choice.Cities, city) && !slices.Contains(held, city) {
			held = append(held, city)
		}
	}
	slices.Sort(held)
	return held
}

func (p *plan) want(placement *v1alpha.WorkloadPlacement, city string) {
	p.wanted[[2]string{placement.Name, naming.CityLabel(city)}] = true
}

func (p *plan) block(desired *v1alpha.WorkloadDeployment, message string) {
	name := desired.Spec.PlacementName
	p.blocked[name] = append(p.blocked[name], message)
}

// explain adds the messages why each placement lacks its locations.
func (p *plan) explain(why error) {
	for placement := range p.missing {
		p.missing[placement] = []string{why.Error()}
	}
}

func (p *plan) wants(existing *v1alpha.WorkloadDeployment) bool {
	return p.wanted[[2]string{existing.Spec.PlacementName, naming.CityLabel(existing.Spec.CityCode)}]
}

func sameCity(a, b string) bool { return naming.CityLabel(a) == naming.CityLabel(b) }

// sameDeployment reports whether existing is the deployment that desired describes. Another Workload, placement and
// city may result in the same deployment name.
func sameDeployment(existing, desired *v1alpha.WorkloadDeployment) bool {
	return existing.Spec.WorkloadRef.UID == desired.Spec.WorkloadRef.UID &&
		existing.Spec.PlacementName == desired.Spec.PlacementName &&
		sameCity(existing.Spec.CityCode, desired.Spec.CityCode)
}

func buildDeployment(workload *v1alpha.Workload, placement *v1alpha.WorkloadPlacement, city string) *v1alpha.WorkloadDeployment {
	deployment := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      naming.DeploymentName(workload.Name, placement.Name, city),
			Namespace: workload.Namespace,
			Labels: map[string]string{
				v1alpha.LabelWorkloadUID:   string(workload.UID),
				v1alpha.LabelWorkloadName:  workload.Name,
				v1alpha.LabelPlacementName: placement.Name,
				v1alpha.LabelCityCode:      strings.ToUpper(city),
			},
			OwnerReferences: []metav1.OwnerReference{workload.ControllerReference()},
		},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef:   v1alpha.WorkloadReference{Name: workload.Name, UID: workload.UID},
			PlacementName: placement.Name,
			CityCode:      strings.ToUpper(city),
			Template:      *workload.Spec.Template.DeepCopy(),
			ScaleSettings: *placement.ScaleSettings.DeepCopy(),
			Rollout:       workload.Spec.Rollout.ForDeployments(),
		},
	}
	if seconds := workload.Spec.MinReadySeconds; seconds != nil {
		deployment.Spec.MinReadySeconds = new(*seconds)
	}
	if service := templates.CompleteService(workload.Spec.Service); service != nil {
		// hub/names reads them from the Workload: a change of a name changes no deployment, unless it is of a route.
		service.Hostnames = nil
		deployment.Spec.Service, deployment.Spec.ServiceGeneration = service, workload.Generation
	}
	return deployment
}
