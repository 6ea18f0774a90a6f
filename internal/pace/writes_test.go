// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestWrites(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := clocktesting.NewFakePassiveClock(start)
	writes := NewWrites[string](clock)
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

// TestGroups: the more objects of a group wait, the longer each of them does, up to a limit. Other groups do not wait
// longer.
func TestGroups(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := clocktesting.NewFakePassiveClock(start)
	writes := NewGroupedWrites(clock, func(object string) string { return object[:1] })
	wait := func(object string, want time.Duration) {
		t.Helper()
		if got := writes.Wait(object); got != want {
			t.Errorf("%s waits %s, want %s", object, got, want)
		}
	}
	wait("a-0", Limit)
	for i := range 99 {
		writes.Wait(fmt.Sprintf("a-%d", i))
	}
	wait("a-0", CrowdLimit)
	wait("b-0", Limit)
	for i := range 90 {
		writes.Done(fmt.Sprintf("a-%d", i+9))
		writes.Done(fmt.Sprintf("a-%d", i+9))
	}
	wait("a-0", 9*CrowdShare)
	for i := range 9 {
		writes.Done(fmt.Sprintf("a-%d", i))
	}
	clock.SetTime(start.Add(time.Hour))
	wait("a-0", Limit)
	if len(writes.waiting) != 1 || writes.waiting["a"] != 1 {
		t.Errorf("waiting are %v", writes.waiting)
	}
}
