// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"maps"
	"slices"
	"sync"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// denial is the reason why an Instance has no claim, or a denied one.
type denial struct{ reason, message string }

// situation is the input of a plan.
type situation struct {
	// wanted are the indices of the Instances that need quota, ascending.
	wanted []int
	// current are the indices that are granted in the copy.
	current []int
	// requests are the amounts that each of them claims.
	requests []quota.Request
	// claims are the existing claims, by index.
	claims map[int]claimed
	// busy reports whether a cell may still run the Instance at an index that is not wanted.
	busy func(index int) bool
	// started are the Instances that cells report without the gate Quota; rolled are all Instances of the current
	// template.
	started, rolled map[int]bool
	// cell returns the cell of an index. Within a cell an Instance waits for the Instances with lower indices, if
	// ordered.
	cell    func(index int) string
	ordered bool
	// denials are the earlier denials, and due: it is time to claim again.
	denials map[int]denial
	due     bool
	// budget is only read if an Instance must be claimed or was just denied.
	budget func() *budget
}

// plan is the set of changes to make.
type plan struct {
	// granted are the indices of Instances that may start, ascending.
	granted []int
	// remove are claims to delete, and create are indices to claim, ascending.
	remove []*quota.ResourceClaim
	create []int
	// pending are the indices whose claims Milo has not answered yet.
	pending []int
	// denials are the reasons why other Instances may not start. fresh: one of them is new.
	denials map[int]denial
	fresh   bool
	// growing counts the claims that are replaced by larger ones.
	growing int
}

// makePlan decides from the objects that were read. If some are outdated, the answer of the API server or the next
// event corrects the plan.
func makePlan(s *situation) plan {
	p := plan{denials: map[int]denial{}}
	for index, c := range s.claims {
		if !slices.Contains(s.wanted, index) {
			p.release(s, index, c)
		}
	}
	var missing []int
	for _, index := range s.wanted {
		if p.keep(s, index, s.claims[index]) {
			missing = append(missing, index)
		}
	}
	p.claim(s, missing)
	p.giveWay(s)
	slices.Sort(p.granted)
	return p
}

// release releases the claim of an Instance that is not wanted, when no cell may run it any more. A grant that was
// revoked stays so while the claim cannot be deleted: granting it again would change the copy, and then wait for the
// cells again.
func (p *plan) release(s *situation, index int, c claimed) {
	busy := c.state == granted && s.busy(index)
	switch {
	case c.state == ending:
	case busy && slices.Contains(s.current, index):
		p.granted = append(p.granted, index)
	case busy:
	default:
		p.remove = append(p.remove, c.claim)
	}
}

// keep decides about the claim of a wanted Instance. It returns true if the Instance must be claimed.
func (p *plan) keep(s *situation, index int, c claimed) bool {
	earlier, wasDenied := s.denials[index]
	switch c.state {
	case absent:
		if wasDenied && !s.due {
			p.denials[index] = earlier
			return false
		}
		return true
	case granted:
		p.granted = append(p.granted, index)
	case pending:
		p.pending = append(p.pending, index)
		if wasDenied {
			// The earlier denial holds until Milo answers otherwise.
			p.denials[index] = earlier
		}
	case denied:
		// It may hold a part of its requested amounts, which other Instances may need.
		p.remove = append(p.remove, c.claim)
		p.deny(index, p.explain(s, c))
	case outdated:
		p.replace(s, index, c)
	case ending:
		if wasDenied {
			p.denials[index] = earlier
		}
	}
	return false
}

func (p *plan) deny(index int, why denial) {
	p.denials[index] = why
	p.fresh = true
}

// explain returns why a claim is denied, in numbers if Milo reports the remaining quota.
func (p *plan) explain(s *situation, c claimed) denial {
	if c.reason != v1alpha.ReasonQuotaExceeded {
		return denial{c.reason, c.message}
	}
	if why := s.budget().explain(s.requests, nil); why.message != "" {
		return why
	}
	return denial{c.reason, c.message}
}

// replace decides when a claim of another size is replaced by one of the present size. A running Instance never loses
// its claim for one that would be denied.
func (p *plan) replace(s *situation, index int, c claimed) {
	running := s.started[index] && c.holds != nil
	switch {
	case running && covers(c.holds, s.requests) && !s.rolled[index]:
		// The Instance still has the size of its claim.
		p.granted = append(p.granted, index)
		return
	case running && !covers(c.holds, s.requests):
		b := s.budget()
		if count, _ := b.fits(s.requests, c.holds); count <= p.growing {
			p.deny(index, b.without(p.growing, s.requests).explain(s.requests, c.holds))
			return
		}
		p.growing++
	}
	p.remove = append(p.remove, c.claim)
}

// claim claims missing Instances, as many as fit, the lowest first.
func (p *plan) claim(s *situation, missing []int) {
	if len(missing) == 0 {
		return
	}
	b := s.budget()
	count, known := b.fits(s.requests, nil)
	count = max(0, count-len(p.pending))
	if !known && len(p.granted) == 0 {
		// The quota of a resource type is unknown, and no Instance is granted yet: one claim finds out for all.
		count = min(count, max(0, 1-len(p.pending)-len(p.denials)))
	}
	p.create = missing[:min(count, len(missing))]
	if len(p.create) == len(missing) || len(p.pending)+len(p.create) > 0 && !known {
		return
	}
	why := b.without(len(p.pending)+len(p.create), s.requests).explain(s.requests, nil)
	for _, index := range missing[len(p.create):] {
		p.deny(index, why)
	}
}

// giveWay releases the claim of an Instance that has not started and cannot, because it waits in its cell for a denied
// Instance with a lower index: its claim may hold the quota that the other one lacks.
func (p *plan) giveWay(s *situation) {
	if !s.ordered {
		return
	}
	for _, lower := range slices.Sorted(maps.Keys(p.denials)) {
		if s.started[lower] || p.denials[lower].reason != v1alpha.ReasonQuotaExceeded {
			continue
		}
		highest := -1
		for _, index := range p.granted {
			if index > max(lower, highest) && s.cell(index) == s.cell(lower) && !s.started[index] {
				highest = index
			}
		}
		if highest < 0 {
			continue
		}
		p.granted = slices.DeleteFunc(p.granted, func(index int) bool { return index == highest })
		p.remove = append(p.remove, s.claims[highest].claim)
		p.denials[highest] = p.denials[lower]
	}
}

// withheld returns the denials in the form of the copy: one entry for each reason and message, in the order of their
// lowest indices.
func withheld(denials map[int]denial) []v1alpha.QuotaWithheld {
	const most = 20
	indices := map[denial][]int{}
	var order []denial
	for _, index := range slices.Sorted(maps.Keys(denials)) {
		why := denials[index]
		if indices[why] == nil {
			if len(order) == most {
				why = order[most-1]
			} else {
				order = append(order, why)
			}
		}
		indices[why] = append(indices[why], index)
	}
	var result []v1alpha.QuotaWithheld
	for _, why := range order {
		result = append(result, v1alpha.QuotaWithheld{Reason: why.reason, Message: why.message, Indices: naming.Ranges(indices[why])})
	}
	return result
}

// wantedIndices returns the indices of the Instances that need quota, ascending: the indices that are assigned to
// cells. In a cell with an autoscaler they are the lowest indices of the cell, as many as always run, and the indices
// of Instances that the cell may have created.
func wantedIndices(assignment *v1alpha.WorkloadDeploymentAssignment, mayExist func(index int) bool) []int {
	if assignment == nil {
		return nil
	}
	var wanted []int
	for i := range assignment.Cells {
		indices := naming.OfRanges(assignment.Cells[i].Indices)
		least := len(indices)
		if own := assignment.Cells[i].MinReplicas; own != nil {
			least = min(least, int(*own))
		}
		wanted = append(wanted, indices[:least]...)
		for _, index := range indices[least:] {
			if mayExist(index) {
				wanted = append(wanted, index)
			}
		}
	}
	slices.Sort(wanted)
	return slices.Compact(wanted)
}

// wanted returns the indices of the Instances that need quota. An Instance with a claim in a silent cell may exist.
func (s *scope) wanted() []int {
	reported := sync.OnceValue(func() map[int]wire.Facts { return wire.FactsOf(s.copied) })
	return wantedIndices(s.copied.Spec.Assignment, func(index int) bool {
		_, exists := reported()[index]
		return exists || s.isSilent(index) && s.found[index].claim != nil
	})
}

// isSilent reports whether the cell of the Instance at an index is silent.
func (s *scope) isSilent(index int) bool {
	return s.reports.Known(s.copied.Spec.Assignment.Owner(index)).Silent()
}

// mayRun reports whether a cell may run the Instance at an index that is assigned to no cell: the cell reports it, has
// not released it yet, or has not reported on the newest copy.
func mayRun(copied *v1alpha.WorkloadDeployment, reported map[int]wire.Facts, index int) bool {
	if _, made := reported[index]; made || copied.Status.ObservedGeneration != copied.Generation {
		return true
	}
	if copied.Spec.Assignment == nil {
		return false
	}
	return slices.ContainsFunc(copied.Spec.Assignment.Cells, func(cell v1alpha.CellAssignment) bool {
		return slices.Contains(naming.OfRanges(cell.Releasing), index)
	})
}
