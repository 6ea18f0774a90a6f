// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
)

// candidate is a city of a placement with spread that serves nothing, or that was replaced, with what happens next.
type candidate struct {
	v1alpha.PlacementCity
	placement, message string
}

// candidatesOf returns the cities of placements with spread to which something is about to happen. workload may be nil.
func candidatesOf(workload *v1alpha.Workload) (found []candidate) {
	if workload == nil {
		return nil
	}
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		for _, city := range workload.Status.RecordOf(placement.Name) {
			if message := plan.DescribeCity(placement, &city); message != "" {
				found = append(found, candidate{PlacementCity: city, placement: placement.Name, message: message})
			}
		}
	}
	return found
}

func (c *candidate) reason() string { return "City" + string(c.Phase) }

// isReplaced reports whether another city runs the Instances of this one, so that a fault of its own ones is no fault of the Workload.
func (c *candidate) isReplaced() bool {
	return c.Phase != v1alpha.CityRunning && c.Phase != v1alpha.CityReturning
}

func (c *candidate) has(d *v1alpha.WorkloadDeployment) bool {
	return d.Spec.PlacementName == c.placement && strings.EqualFold(d.Spec.CityCode, c.City)
}

// warning is the finding of an object that works, whatever happens to the city.
func (c *candidate) warning(message string) *Finding {
	return &Finding{Reason: c.reason(), Message: message, Since: c.Since.DeepCopy(), Warning: true}
}

// isReplaced reports whether another city runs the Instances of a deployment.
func (s *Snapshot) isReplaced(d *v1alpha.WorkloadDeployment) bool {
	return slices.ContainsFunc(candidatesOf(s.Workload), func(c candidate) bool { return c.has(d) && c.isReplaced() })
}

// tellCity shows on the node of a deployment what happens to its city. A fault that Instances suffer from comes first. The other candidates
// are returned.
func (n *Node) tellCity(d *v1alpha.WorkloadDeployment, candidates []candidate) []candidate {
	return slices.DeleteFunc(candidates, func(c candidate) bool {
		if !c.has(d) || n.Finding != nil && !c.isReplaced() {
			return false
		}
		n.covered, n.Finding = n.Finding, c.warning(c.message)
		if c.isReplaced() {
			n.ReplacedBy = c.ReplacedBy
		}
		return true
	})
}

// tellCities shows on the node of a Workload without a fault what happens to cities that have no node to show it.
func (n *Node) tellCities(candidates []candidate) {
	if n.Finding != nil || len(candidates) == 0 {
		return
	}
	var messages []string
	for i := range candidates {
		messages = append(messages, candidates[i].City+": "+candidates[i].message)
	}
	n.Finding = candidates[0].warning(strings.Join(messages, "; "))
}

// candidateWarnings are the warnings about the cities of a placement.
func (s *Snapshot) candidateWarnings(placement string) (warnings []*Finding) {
	for _, c := range candidatesOf(s.Workload) {
		if c.placement == placement {
			warnings = append(warnings, c.warning(c.City+": "+c.message))
		}
	}
	return warnings
}

// excuse makes the faults at the ends of the ways of a deployment warnings, if another city runs its Instances.
func (s *Snapshot) excuse(d *v1alpha.WorkloadDeployment, ways []*Way) {
	if !s.isReplaced(d) {
		return
	}
	for _, way := range ways {
		if way.Stop == nil {
			continue
		}
		finding := *way.Stop.Finding
		finding.Warning = true
		way.Stop.warnings = append(way.Stop.warnings, &finding)
		way.Stop = nil
	}
}
