// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

var web, other = types.NamespacedName{Namespace: "ns", Name: "web"}, types.NamespacedName{Namespace: "ns", Name: "other"}

func TestPaceByBytes(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(now)
	p := newPacer(clock)
	small := 0
	for ; p.wait(web, false) == 0 && small < 100; small++ {
		p.wrote(web, 1000)
	}
	if small != 10 {
		t.Errorf("%d small reports went up without a wait, want 10", small)
	}
	if rest := p.wait(other, false); rest > 0 {
		t.Errorf("another deployment waits %s", rest)
	}
	clock.SetTime(now.Add(time.Minute))
	p.wrote(web, 928e3)
	if rest := p.wait(web, false); rest != 4*time.Second {
		t.Errorf("after a report of 928 kB the next one waits %s, want 4s: what it took too much, by the rate", rest)
	}
	clock.SetTime(now.Add(time.Minute + 4*time.Second))
	if rest := p.wait(web, false); rest > 0 {
		t.Errorf("it still waits %s when that time is over", rest)
	}
	p.forget(web)
	if _, known := p.budgets[web]; known || len(p.budgets) != 1 {
		t.Errorf("a deployment that is gone is remembered: %v", p.budgets)
	}
}

func TestPaceOfPassingStates(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(now)
	p := newPacer(clock)
	steps := []struct {
		after time.Duration
		do    func()
		want  time.Duration
	}{
		{want: 500 * time.Millisecond},
		{after: 300 * time.Millisecond, want: 200 * time.Millisecond},
		// Nothing to report any more: the next state has a wait of its own.
		{after: 400 * time.Millisecond, do: func() { p.unchanged(web) }, want: 500 * time.Millisecond},
		{after: 900 * time.Millisecond, want: 0},
		{after: 900 * time.Millisecond, do: func() { p.wrote(web, 1000) }, want: 500 * time.Millisecond},
		// A report over the budget waits for longer.
		{after: 900 * time.Millisecond, do: func() { p.wrote(web, 960e3) }, want: 4406250 * time.Microsecond},
	}
	for i, step := range steps {
		clock.SetTime(now.Add(step.after))
		if step.do != nil {
			step.do()
		}
		if got := p.wait(web, true); got != step.want {
			t.Errorf("step %d: waits %s, want %s", i, got, step.want)
		}
	}
}

// TestPaceOfWhatIsNotNeeded: an optional report leaves half of the budget to required ones, and waits as long as more
// than that is used.
func TestPaceOfWhatIsNotNeeded(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(now)
	p := newPacer(clock)
	p.spent(web, 160e3)
	if wait := p.spare(web); wait != 0 {
		t.Errorf("with half of the budget it waits %s", wait)
	}
	p.spent(web, 80e3)
	if wait, rest := p.spare(web), p.wait(web, false); wait != 500*time.Millisecond || rest != 0 {
		t.Errorf("with a quarter of the budget it waits %s, and what is needed %s", wait, rest)
	}
	clock.SetTime(now.Add(500 * time.Millisecond))
	if wait := p.spare(web); wait != 0 {
		t.Errorf("it still waits %s when that time is over", wait)
	}
}

// TestPaceOfARollout: while Instances are replaced, a report waits until a second after the one before, or after the
// begin, and longer while many are not Available. Its end waits for nothing.
func TestPaceOfARollout(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(now)
	p := newPacer(clock)
	p.wrote(web, 1000)
	for i, step := range []struct {
		after time.Duration
		state replacement
		do    func()
		want  time.Duration
	}{
		{after: time.Minute, state: replacement{settled: true}, want: 0},
		{after: time.Minute, want: 0},
		{after: time.Minute, state: replacement{begun: true}, want: time.Second},
		{after: time.Minute + 300*time.Millisecond, state: replacement{begun: true}, want: 700 * time.Millisecond},
		{after: time.Minute + time.Second, state: replacement{begun: true}, want: 0},
		{after: time.Minute + time.Second, do: func() { p.spent(web, 1) }, state: replacement{begun: true}, want: time.Second},
		// All have got the template, and some are starting.
		{after: time.Minute + 1500*time.Millisecond, want: 500 * time.Millisecond},
		{after: time.Minute + 1500*time.Millisecond, state: replacement{settled: true}, want: 0},
		{after: time.Minute + 1600*time.Millisecond, want: 0},
		{after: 2 * time.Minute, state: replacement{begun: true, away: 10}, want: time.Second},
		{after: 2 * time.Minute, state: replacement{begun: true, away: 25}, want: 2500 * time.Millisecond},
		{after: 2 * time.Minute, state: replacement{begun: true, away: 5000}, want: 5 * time.Second},
		{after: 2*time.Minute + time.Second, state: replacement{begun: true, away: 25}, want: 1500 * time.Millisecond},
	} {
		clock.SetTime(now.Add(step.after))
		if step.do != nil {
			step.do()
		}
		if got := p.rollout(web, step.state); got != step.want {
			t.Errorf("step %d: waits %s, want %s", i, got, step.want)
		}
	}
}
