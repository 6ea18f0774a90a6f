// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/cli/view"
)

// Bounds of what the page gets of a hub at once.
const (
	MostReplicas = 50
	MostCells    = 300
	MostCities   = 100
	MostRepaired = 50
	MostWarnings = 50
)

// Federation is an operator's view of the hub.
type Federation struct {
	// Read is when the hub was read.
	Read time.Time `json:"read"`
	// Late is when the hub should have been read again: from then on the rest is outdated.
	Late time.Time `json:"late,omitzero"`
	// Problem is why the rest may be outdated, or missing.
	Problem *Problem `json:"problem,omitempty"`
	// Well: there is no fault.
	Well bool `json:"well"`
	// Faults are the faults that require an action, the most important first.
	Faults   []view.Fault    `json:"faults,omitempty"`
	Replicas []Replica       `json:"replicas,omitempty"`
	Cells    []view.Cell     `json:"cells,omitempty"`
	Cities   []view.City     `json:"cities,omitempty"`
	Repaired []view.Repaired `json:"repaired,omitempty"`
	// Warnings are about roles in projects, and taints that empty a cell.
	Warnings []string `json:"warnings,omitempty"`
	// Hidden lists what the user may not read, and Omitted is the number of rows that are left out.
	Hidden  []string `json:"hidden,omitempty"`
	Omitted int      `json:"omitted,omitempty"`
}

// Replica is a replica of the add-on, with the number of its projects.
type Replica struct {
	Name     string      `json:"name"`
	Running  bool        `json:"running"`
	Renewed  metav1.Time `json:"renewed"`
	Shards   int         `json:"shards"`
	Projects int         `json:"projects"`
}

// FederationOf returns what `karmadactl compute status` shows, bounded. Cells with a fault come first, and of many cities the most serious ones stay.
func FederationOf(f *view.Federation, warnings, hidden []string, now time.Time) *Federation {
	result := &Federation{Read: now, Well: f.Well(), Hidden: hidden}
	for _, r := range first(&result.Omitted, f.Replicas, MostReplicas) {
		result.Replicas = append(result.Replicas, Replica{
			Name: r.Name, Running: r.Running, Renewed: r.Renewed, Shards: r.Shards, Projects: len(r.Projects),
		})
	}
	for _, fault := range first(&result.Omitted, f.Faults, MostWarnings) {
		fault.Message = view.Shortened(fault.Message)
		result.Faults = append(result.Faults, fault)
	}
	var faulty, others []view.Cell
	for _, cell := range f.Cells {
		if cell.Finding != nil {
			finding := *cell.Finding
			finding.Message = view.Shortened(finding.Message)
			cell.Finding = &finding
			faulty = append(faulty, cell)
		} else {
			others = append(others, cell)
		}
	}
	result.Cells = first(&result.Omitted, append(faulty, others...), MostCells)
	result.Cities = view.MostSerious(f.Cities, MostCities)
	result.Omitted += len(f.Cities) - len(result.Cities)
	result.Repaired = first(&result.Omitted, f.Repaired, MostRepaired)
	for _, warning := range first(&result.Omitted, warnings, MostWarnings) {
		result.Warnings = append(result.Warnings, view.Shortened(warning))
	}
	return result
}

// first returns the first elements, and counts the others.
func first[T any](omitted *int, all []T, limit int) []T {
	shown := min(len(all), limit)
	*omitted += len(all) - shown
	return all[:shown]
}
