// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "github.com/karmada-compute/karmada-compute/api/v1alpha"

// Everything is the floor of a member that makes no voluntary disruption. It is the maximum number of Instances of a
// Workload: 48 placements in one city each, or one placement in 48 cities, of 5,000.
const Everything int32 = 240000

// MaxSequence is the highest sequence that a member may report of its own accord: a higher one is no sequence of a hub,
// and is ignored. Karmada's Lua has numbers of 53 bits, so that a hub can continue from this one for longer than it
// lives.
const MaxSequence int64 = 1 << 52

// Member is a city of a Workload, or a cell of a city.
type Member struct {
	// Floor is the floor that the hub has stored for the member; nil: no floor yet.
	Floor *v1alpha.AvailabilityFloor
	// Sequence is the sequence of the floor that the member reports to apply; 0: it reports none. Only the floors of this
	// member depend on it.
	Sequence int64
	// Available is the number of Available Instances in the same report. Failures after the report are not known.
	Available int32
	// InForce is the minimum that the floors inside a city guarantee according to the same report. A cell has Everything:
	// only its own floor counts.
	InForce int32
	// Awaiting is the number of Available Instances that a voluntary disruption waits for.
	Awaiting int32
	// Settled reports that all Instances of the member are Available, and that no rollout replaces any: its slack may be
	// levelled with the slack of the other settled members. Floors do not follow readiness, and a rollout keeps the tokens
	// that it has.
	Settled bool
	// Silent reports that the member does not respond at present: it keeps its tokens, since it confirms nothing.
	Silent bool
	// Lost reports that the Instances of the member count as down.
	Lost bool
	// Leaving reports that the member is removed once the others guarantee the minimum.
	Leaving bool
}

// available are the Instances that count.
func (m *Member) available() int32 {
	if m.Lost {
		return 0
	}
	return max(0, m.Available)
}

// sequence is the sequence that the member reports, or 0 if that cannot be the sequence of a floor.
func (m *Member) sequence() int64 {
	if m.Sequence > MaxSequence && m.Sequence > m.issued() {
		return 0
	}
	return m.Sequence
}

// issued is the sequence of the newest floor.
func (m *Member) issued() int64 {
	if m.Floor == nil {
		return 0
	}
	return m.Floor.Sequence
}

// confirmed reports whether the member works with its newest floor.
func (m *Member) confirmed() bool { return m.Floor != nil && m.sequence() == m.Floor.Sequence }

// current is the newest floor. A member without a floor makes no disruption that the budget has allowed.
func (m *Member) current() int32 {
	if m.Floor == nil {
		return Everything
	}
	return m.Floor.MinAvailable
}

// slack is how many Instances the member may take down under its newest floor.
func (m *Member) slack() int32 { return max(0, m.available()-m.current()) }

// Lowest is the smallest floor that may be in force.
func (m *Member) lowest() int32 {
	switch {
	case m.Floor == nil:
		return 0
	case m.confirmed() || m.Floor.Pending == nil:
		return m.Floor.MinAvailable
	}
	return min(m.Floor.Pending.Lowest, m.Floor.MinAvailable)
}

// since is the sequence of the last confirmed floor.
func (m *Member) since() int64 {
	switch {
	case m.Floor == nil:
		return 0
	case m.wasLost():
		return m.Floor.Pending.Confirmed
	case m.confirmed() || m.Floor.Pending == nil:
		return m.Floor.Sequence
	}
	return m.Floor.Pending.Confirmed
}

// foreign reports whether the member applies a floor that this division has not sent: the hub was restored from a
// backup.
func (m *Member) foreign() bool {
	return m.Floor != nil && m.sequence() > m.Floor.Sequence
}

// wasLost reports whether the newest floor is the one of a lost member: no report of it counts, whether the member
// confirms it or not. A lost member that still reports gets no other floor for each report.
func (m *Member) wasLost() bool {
	return m.Floor != nil && m.Floor.Pending != nil && m.Floor.Pending.Confirmed > m.Floor.Sequence
}

// returns reports whether a member is lost and its present report would count, or is no longer lost. It gets another
// floor then, so that only a later report counts: the present one does not contain failures since.
func (m *Member) returns() bool {
	if m.Lost {
		return m.Floor != nil && m.sequence() >= m.since()
	}
	return m.wasLost()
}

// guaranteed returns the number of Instances that voluntary disruptions leave in the member. A report from before the
// last confirmed floor does not count: it may have Instances that were disrupted since. Nor does a report about a floor
// that was never sent.
func (m *Member) guaranteed(lowest int32) int32 {
	if m.sequence() < m.since() || m.foreign() {
		return 0
	}
	return min(m.available(), m.InForce, lowest)
}

// inForceEverything reports whether the member makes no voluntary disruption at all.
func (m *Member) inForceEverything() bool {
	return m.confirmed() && !m.wasLost() && m.Floor.MinAvailable == Everything && m.InForce == Everything
}

// InForce is how many Instances voluntary disruptions leave Available in all members together; Everything: they make
// none.
func InForce(members []Member) int32 {
	total, all := int32(0), true
	for i := range members {
		total += members[i].guaranteed(members[i].lowest())
		all = all && members[i].inForceEverything()
	}
	if all {
		return Everything
	}
	return min(total, Everything)
}
