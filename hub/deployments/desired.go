// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// plan is what should exist for a Workload, and what cannot.
type plan struct {
	deployments []*v1alpha.WorkloadDeployment
	// missing are the cities for which the project has no location, by placement.
	missing map[string][]string
	// blocked are messages that say what else prevents a deployment, by placement.
	blocked map[string][]string
	// wanted are the placement and city of every deployment that the Workload asks for, also of those that are prevented.
	wanted map[[2]string]bool
}

// makePlan builds one deployment per placement and city. A city that the project may not use gets none, but keeps the one
// that it has: withdrawing a location must not stop what runs.
func makePlan(workload *v1alpha.Workload, cities []string, existing map[string]*v1alpha.WorkloadDeployment) plan {
	result := plan{missing: map[string][]string{}, blocked: map[string][]string{}, wanted: map[[2]string]bool{}}
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		for _, city := range placement.CityCodes {
			result.wanted[[2]string{placement.Name, v1alpha.CityLabel(city)}] = true
			desired := buildDeployment(workload, placement, city)
			_, exists := existing[desired.Name]
			if !slices.Contains(cities, strings.ToUpper(city)) {
				result.missing[placement.Name] = append(result.missing[placement.Name], strings.ToUpper(city))
				if !exists {
					continue
				}
			}
			result.deployments = append(result.deployments, desired)
		}
	}
	return result
}

func (p *plan) block(desired *v1alpha.WorkloadDeployment, message string) {
	name := desired.Spec.PlacementName
	p.blocked[name] = append(p.blocked[name], message)
}

func (p *plan) wants(existing *v1alpha.WorkloadDeployment) bool {
	return p.wanted[[2]string{existing.Spec.PlacementName, v1alpha.CityLabel(existing.Spec.CityCode)}]
}

func sameCity(a, b string) bool { return v1alpha.CityLabel(a) == v1alpha.CityLabel(b) }

// sameDeployment says whether existing is the deployment that desired describes. The names of another Workload, placement and
// city may join to the same deployment name.
func sameDeployment(existing, desired *v1alpha.WorkloadDeployment) bool {
	return existing.Spec.WorkloadRef.UID == desired.Spec.WorkloadRef.UID &&
		existing.Spec.PlacementName == desired.Spec.PlacementName &&
		sameCity(existing.Spec.CityCode, desired.Spec.CityCode)
}

func buildDeployment(workload *v1alpha.Workload, placement *v1alpha.WorkloadPlacement, city string) *v1alpha.WorkloadDeployment {
	return &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      v1alpha.DeploymentName(workload.Name, placement.Name, city),
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
		},
	}
}

// describeMissing names the cities that a placement cannot use, and those that it could.
func describeMissing(missing, cities []string) string {
	have := "no location at all"
	if len(cities) > 0 {
		have = "locations for " + strings.Join(cities, ", ")
	}
	return fmt.Sprintf("no available LocationBinding for %s; the project has %s", strings.Join(missing, ", "), have)
}
