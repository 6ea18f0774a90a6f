// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package coalesce

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestWrites(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := clocktesting.NewFakePassiveClock(start)
	writes := New[string](clock)
	rest := func(after time.Duration, object string, want time.Duration) {
		t.Helper()
		clock.SetTime(start.Add(after))
		if got := writes.Wait(object); got != want {
			t.Errorf("after %s %s waits %s, want %s", after, object, got, want)
		}
	}
	rest(0, "web", Limit)
	rest(Limit-time.Millisecond, "web", time.Millisecond)
	rest(Limit-time.Millisecond, "other", Limit)
	if got := writes.WaitAtMost("other", 3*Limit); got != 3*Limit {
		t.Errorf("with a limit of its own it waits %s", got)
	}
	rest(Limit, "web", 0)
	// It stays due until it is written.
	rest(2*Limit, "web", 0)
	writes.Done("web")
	rest(2*Limit, "web", Limit)
	rest(time.Hour, "third", Limit)
	if len(writes.since) != 1 {
		t.Errorf("what nobody asked for is remembered: %v", writes.since)
	}
	var none *Writes[string]
	none.Done("web")
	if got := none.Wait("web"); got != 0 {
		t.Errorf("without Writes one waits %s", got)
	}
}
