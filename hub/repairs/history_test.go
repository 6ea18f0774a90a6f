// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package repairs

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
)

func TestPausesGrow(t *testing.T) {
	c := testclock.NewFakePassiveClock(time.Now())
	h, work := newHistory(c), repairKey{kind: "Work", name: types.NamespacedName{Name: "web"}, reason: "Deleting"}
	for i, want := range []time.Duration{15, 30, 60, 120, 240, 480, 600, 600} {
		if rest := h.wait(work); rest != 0 {
			t.Fatalf("repair %d has to wait another %s after its pause", i+1, rest)
		}
		if attempt := h.begin(work); attempt != i+1 {
			t.Errorf("repair %d is counted as %d", i+1, attempt)
		}
		if rest := h.wait(work); rest != want*time.Second {
			t.Errorf("the pause after repair %d is %s, want %s", i+1, rest, want*time.Second)
		}
		c.SetTime(c.Now().Add(want * time.Second))
	}
}

func TestFaultsAreForgotten(t *testing.T) {
	c := testclock.NewFakePassiveClock(time.Now())
	h, work := newHistory(c), repairKey{kind: "Work", reason: "Deleting"}
	h.begin(work)
	h.begin(work)
	c.SetTime(c.Now().Add(forgetAfter - time.Second))
	if got := h.attempts(work); got != 2 {
		t.Errorf("%d attempts are known before they are forgotten, want 2", got)
	}
	c.SetTime(c.Now().Add(time.Second))
	if got := h.attempts(work); got != 0 {
		t.Errorf("%d attempts are known after they are forgotten", got)
	}
	h.begin(repairKey{kind: "Work", reason: "NotBound"})
	if len(h.faults) != 1 {
		t.Errorf("%d faults are held in memory, want that of the present alone", len(h.faults))
	}
}

func TestFaultsAreApart(t *testing.T) {
	h := newHistory(testclock.NewFakePassiveClock(time.Now()))
	h.begin(repairKey{kind: "Work", reason: "Deleting"})
	for name, other := range map[string]repairKey{
		"another reason": {kind: "Work", reason: "NotApplied"},
		"another kind":   {kind: "ResourceBinding", reason: "Deleting"},
		"another object": {kind: "Work", name: types.NamespacedName{Name: "web"}, reason: "Deleting"},
	} {
		if rest := h.wait(other); rest != 0 {
			t.Errorf("%s has to wait %s", name, rest)
		}
	}
}
