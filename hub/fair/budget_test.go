// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair

import (
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"
)

// TestSharesEnd: a party that no longer asks has no share, and is in memory no more.
func TestSharesEnd(t *testing.T) {
	clock := testclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	b := NewBudget(clock, 1, 20)
	for _, party := range []string{"quiet", "broken"} {
		if wait := b.Take(party); wait != 0 {
			t.Errorf("the first action of %s waits %s", party, wait)
		}
	}
	clock.SetTime(clock.Now().Add(2 * shareEnds))
	if b.Take("broken"); len(b.parties) != 1 || b.parties["broken"] == nil {
		t.Errorf("in memory are %v", b.parties)
	}
}
