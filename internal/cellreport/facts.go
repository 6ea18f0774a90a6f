// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cellreport

import (
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
)

// Facts are the facts about one Instance that CellIndices report.
type Facts struct {
	// Cell that reports it.
	Cell string
	// Ready reports that the Instance is Ready, Available that it has been Ready for minReadySeconds, and Held that it waits for quota.
	Ready, Available, Held bool
	// TemplateHash is the hash of the template that the Instance was created from; "" if that is an earlier template than the
	// deployment's.
	TemplateHash string
}

// FactsOf returns the facts about all Instances of a deployment that cells report, by index. A cell's report of an index counts only if
// the deployment may have the index and the index is not assigned to another cell.
func FactsOf(d *v1alpha.WorkloadDeployment) map[int]Facts {
	facts := map[int]Facts{}
	own := ownershipOf(d)
	for i := range d.Status.Indices {
		of := &d.Status.Indices[i]
		available := indexing.ParseSet(of.AvailableIndices)
		existing, ready, held, current := indexing.ParseSet(of.Existing), indexing.ParseSet(of.Ready), indexing.ParseSet(of.Held), indexing.ParseSet(of.Current)
		for _, index := range existing.Indices() {
			if _, seen := facts[index]; seen || !own.counts(of.Cell, index) {
				continue
			}
			fact := Facts{Cell: of.Cell, Ready: ready.Has(index), Available: available.Has(index), Held: held.Has(index)}
			if current.Has(index) {
				fact.TemplateHash = of.TemplateHash
			}
			facts[index] = fact
		}
	}
	return facts
}

// Highest is the highest index that cells report of a deployment, whoever it is assigned to; -1: none.
func Highest(d *v1alpha.WorkloadDeployment) int {
	highest := -1
	for i := range d.Status.Indices {
		// The text is ascending.
		existing := d.Status.Indices[i].Existing
		for _, index := range indexing.Parse(existing[strings.LastIndexByte(existing, ',')+1:]) {
			highest = max(highest, index)
		}
	}
	return highest
}
