// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cellreport

import (
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
)

// Facts is what CellIndices say of one Instance.
type Facts struct {
	// Cell that reports it.
	Cell string
	// Ready says that it is Ready, and Held that it waits for quota.
	Ready, Held bool
	// TemplateHash is the hash of the template that it was created from; "" for an earlier template than that of its deployment.
	TemplateHash string
}

// FactsOf are the facts of all Instances that cells report of a deployment, by index. Of a cell only those count that the
// deployment may have and that are not assigned to another cell.
func FactsOf(d *v1alpha.WorkloadDeployment) map[int]Facts {
	facts := map[int]Facts{}
	own := ownershipOf(d)
	for i := range d.Status.Indices {
		of := &d.Status.Indices[i]
		existing, ready, held, current := indexing.ParseSet(of.Existing), indexing.ParseSet(of.Ready), indexing.ParseSet(of.Held), indexing.ParseSet(of.Current)
		for _, index := range existing.Indices() {
			if _, seen := facts[index]; seen || !own.counts(of.Cell, index) {
				continue
			}
			fact := Facts{Cell: of.Cell, Ready: ready.Has(index), Held: held.Has(index)}
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
