// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Division is the input of Divide.
type Division struct {
	// Minimum is how many Instances voluntary disruptions leave Available in all members together.
	Minimum int32
	// Sequence is the highest sequence that a floor has had so far, as the last Divided has it.
	Sequence int64
	// Step is the distance to the next sequence, at least 1. A random step distinguishes the sequences after a restored
	// backup from the sequences before it.
	Step int64
	// Members are in a fixed order.
	Members []Member
}

// Divided is a Division's result.
type Divided struct {
	// Floors of the members, in their order.
	Floors []v1alpha.AvailabilityFloor
	// Sequence is the highest sequence that a floor has, apart from the floors of members that had a higher one already.
	Sequence int64
	// Changed reports that a floor differs. It is stored before any member gets its new floor.
	Changed bool
}

// Step returns a random step between two sequences: a hub that was restored from a backup does not issue a sequence
// twice.
func Step() int64 {
	const most = 1 << 16
	return 1 + rand.Int64N(most) //nolint:gosec // no secret
}

// Divide returns the next floors. They stay as they are unless the minimum needs others, a member awaits disruptions
// and has no slack, or there is slack that no member has: a settled federation changes no floor.
func Divide(d Division) Divided {
	floors := d.limit(d.targets())
	result := Divided{Sequence: d.Sequence}
	issued := make([]bool, len(d.Members))
	for i := range d.Members {
		m := &d.Members[i]
		if m.Floor != nil && !m.foreign() && !m.returns() && floors[i] == m.Floor.MinAvailable {
			result.Floors = append(result.Floors, *m.Floor.DeepCopy())
			continue
		}
		issued[i], result.Changed, result.Sequence = true, true, d.Sequence+d.step()
		result.Floors = append(result.Floors, m.next(floors[i], d.sequenceFor(m)))
	}
	if result.Changed {
		for i := range d.Members {
			if d.Members[i].confirmed() && !d.Members[i].wasLost() && !issued[i] {
				result.Floors[i].Pending = nil
			}
		}
	}
	return result
}

func (d *Division) step() int64 { return max(1, d.Step) }

// sequenceFor is the sequence of a member's next floor: higher than any that the member has. The report of one member
// does not raise the sequences of others: a member with a sequence of its own invention reaches the end of the numbers
// for itself only.
func (d *Division) sequenceFor(m *Member) int64 {
	return max(d.Sequence, m.issued(), m.sequence()) + d.step()
}

// next is a changed floor, with the floor that may be in force until it is confirmed.
func (m *Member) next(floor int32, sequence int64) v1alpha.AvailabilityFloor {
	pending := &v1alpha.PendingFloor{Lowest: min(m.lowest(), floor), Confirmed: m.since()}
	switch {
	case m.foreign():
		pending.Lowest = 0
	case m.Lost:
		pending.Confirmed = sequence + 1
	case m.wasLost():
		pending.Confirmed = sequence
	}
	return v1alpha.AvailabilityFloor{MinAvailable: floor, Sequence: sequence, Pending: pending}
}

// limit reduces the targets by the amount that the members do not guarantee yet: a floor is lowered only as far as the
// rest stays guaranteed.
func (d *Division) limit(targets []int32) []int32 {
	var total int32
	for i := range d.Members {
		total += d.Members[i].guaranteed(d.Members[i].lowest())
	}
	floors := slices.Clone(targets)
	for _, i := range d.lowered(targets) {
		m := &d.Members[i]
		own := m.guaranteed(m.lowest())
		floor := max(targets[i], d.Minimum-(total-own))
		if floor >= m.current() || floor >= m.available() && floor > targets[i] || m.Leaving && floor > targets[i] {
			floors[i] = m.current()
			continue
		}
		floors[i] = floor
		total += m.guaranteed(min(m.lowest(), floor)) - own
	}
	return floors
}

// lowered returns the members whose targets are below their floors, first the members that await disruptions with the
// least slack.
func (d *Division) lowered(targets []int32) []int {
	var result []int
	for i := range d.Members {
		if targets[i] < d.Members[i].current() {
			result = append(result, i)
		}
	}
	urgency := func(m *Member) int {
		switch {
		case m.Awaiting > 0 && m.slack() == 0:
			return 0
		case m.Awaiting > 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(result, func(a, b int) int { return cmp.Compare(urgency(&d.Members[a]), urgency(&d.Members[b])) })
	return result
}
