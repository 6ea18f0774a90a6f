// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"cmp"
	"slices"
	"sort"
)

// targets are the floors that the members should have once all is confirmed.
func (d *Division) targets() []int32 {
	var all, staying int32
	for i := range d.Members {
		all += d.Members[i].available()
		if !d.Members[i].Leaving {
			staying += d.Members[i].available()
		}
	}
	targets := make([]int32, len(d.Members))
	leave := staying >= d.Minimum
	remaining := all - d.Minimum
	if leave {
		remaining = staying - d.Minimum
	}
	shares, enough := d.shares(remaining, leave)
	if !enough {
		// No Instance that recovers may let another one be taken down.
		for i := range targets {
			targets[i] = Everything
		}
		return targets
	}
	for i := range d.Members {
		switch m := &d.Members[i]; {
		case leave && m.Leaving:
			targets[i] = 0
		case m.Silent || m.slack() == shares[i]:
			// A floor above the Available Instances leaves no slack either.
			targets[i] = m.current()
		default:
			targets[i] = m.available() - shares[i]
		}
	}
	return targets
}

// shares divides the slack. Each member that awaits disruptions gets some, also from members that do not; apart from
// that, each keeps its own, and the rest is divided evenly. While no member awaits disruptions, the settled ones have
// as much as each other. enough is false if the minimum is missed even without any slack.
func (d *Division) shares(remaining int32, leave bool) (shares []int32, enough bool) {
	shares = make([]int32, len(d.Members))
	give := func(i int, upTo int32) {
		more := max(0, min(upTo-shares[i], remaining))
		shares[i] += more
		remaining -= more
	}
	var awaiting, others []int
	for i := range d.Members {
		switch m := &d.Members[i]; {
		case leave && m.Leaving:
		case m.Silent:
			shares[i] = m.available() - m.guaranteed(m.lowest())
			remaining -= shares[i]
		case m.Awaiting > 0 && m.available() > 0:
			awaiting = append(awaiting, i)
		default:
			others = append(others, i)
		}
	}
	if remaining < 0 {
		return nil, false
	}
	// While there are fewer tokens than members, the members that have a token use it first.
	slices.SortStableFunc(awaiting, func(a, b int) int { return int(min(1, d.Members[b].slack()) - min(1, d.Members[a].slack())) })
	for _, i := range awaiting {
		give(i, 1)
	}
	for _, i := range awaiting {
		give(i, d.Members[i].slack())
	}
	remaining -= fill(shares, awaiting, remaining, func(i int) int32 { return min(d.Members[i].Awaiting, d.Members[i].available()) })
	for i, kept := range d.kept(others, remaining, len(awaiting) == 0) {
		give(others[i], kept)
	}
	fill(shares, append(awaiting, others...), remaining, func(i int) int32 { return d.Members[i].available() })
	return shares, true
}

// kept returns how much of their slack members keep that do not await disruptions, rest at most. With evenly, the
// settled members level theirs: an Instance that recovered has left its slack where it recovered, whoever had been
// given slack meanwhile.
func (d *Division) kept(members []int, remaining int32, evenly bool) []int32 {
	kept := make([]int32, len(members))
	var settled []int
	var own int32
	for n, i := range members {
		m := &d.Members[i]
		if evenly && m.Settled {
			settled, own = append(settled, n), own+m.slack()
			continue
		}
		kept[n] = min(m.slack(), remaining)
		remaining -= kept[n]
	}
	// Of members that cannot all have the same, these keep one more that have it.
	slices.SortStableFunc(settled, func(a, b int) int { return cmp.Compare(d.Members[members[b]].slack(), d.Members[members[a]].slack()) })
	fill(kept, settled, min(own, remaining), func(n int) int32 { return d.Members[members[n]].available() })
	return kept
}

// fill raises the smallest of the shares of members first, each up to its bound, by rest together. It returns by how
// much it has.
func fill(shares []int32, members []int, remaining int32, bound func(int) int32) int32 {
	if remaining <= 0 || len(members) == 0 {
		return 0
	}
	// level is the highest one that rest suffices for.
	raised := func(i int, level int32) int32 { return max(shares[i], min(level, bound(i))) }
	needs := func(level int32) int64 {
		var sum int64
		for _, i := range members {
			sum += int64(raised(i, level) - shares[i])
		}
		return sum
	}
	//nolint:gosec // at most Everything
	level := int32(sort.Search(int(Everything)+1, func(n int) bool { return needs(int32(n)) > int64(remaining) })) - 1
	used := needs(level)
	for _, i := range members {
		next := raised(i, level)
		if used < int64(remaining) && next == level && next < bound(i) {
			next++
			used++
		}
		shares[i] = next
	}
	return int32(used) //nolint:gosec // at most rest
}
