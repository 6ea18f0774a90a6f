// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// TimerClock is a fake clock that reports the durations of its timers.
type TimerClock struct {
	*clocktesting.FakeClock
	Timers chan time.Duration
}

// NewTimerClock creates a TimerClock for up to 100 timers.
func NewTimerClock() TimerClock {
	return TimerClock{FakeClock: clocktesting.NewFakeClock(time.Unix(1e9, 0)), Timers: make(chan time.Duration, 100)}
}

// NewTimer creates a timer.
func (c TimerClock) NewTimer(d time.Duration) clock.Timer {
	timer := c.FakeClock.NewTimer(d)
	c.Timers <- d
	return timer
}
