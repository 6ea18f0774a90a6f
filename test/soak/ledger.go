// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Standing is a disagreement with its age.
type Standing struct {
	Disagreement
	Age time.Duration
}

// String returns the age, the plane, the object and the fault.
func (s Standing) String() string {
	return fmt.Sprintf("%4.0fs  %s", s.Age.Seconds(), s.Disagreement)
}

// ledger stores when each disagreement was first seen.
type ledger struct {
	since   map[Disagreement]time.Time
	longest Standing
}

// update returns the disagreements of a comparison with their age, the oldest first. A disagreement that was no longer
// found is dropped, and counts as having lasted until now.
func (l *ledger) update(now time.Time, found []Disagreement) []Standing {
	before := l.since
	l.since = make(map[Disagreement]time.Time, len(found))
	var standing []Standing
	for _, d := range found {
		key := d
		key.Detail = ""
		since, known := before[key]
		if !known {
			since = now
		}
		l.since[key] = since
		standing = append(standing, Standing{d, now.Sub(since)})
		l.note(standing[len(standing)-1])
	}
	for key, since := range before {
		if _, still := l.since[key]; !still {
			l.note(Standing{key, now.Sub(since)})
		}
	}
	slices.SortStableFunc(standing, func(a, b Standing) int { return cmp.Or(cmp.Compare(b.Age, a.Age), a.compare(b.Disagreement)) })
	return standing
}

func (l *ledger) note(s Standing) {
	if s.Age > l.longest.Age {
		l.longest = s
	}
}
