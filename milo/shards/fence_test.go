// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// lateClock is the clock of a process that continues after a pause: its timers have not fired yet.
type lateClock struct{ clock.RealClock }

func (c lateClock) AfterFunc(_ time.Duration, f func()) clock.Timer {
	return c.RealClock.AfterFunc(time.Hour, f)
}

// TestLateRenewal: the answer to a renewal that comes too late stops the shards, even if it comes before the timer.
func TestLateRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fence{clock: lateClock{}, log: logr.Discard(), owned: map[int]context.CancelFunc{}}
		f.extend(time.Now().Add(2 * time.Second))
		owned := f.start(t.Context(), []int{1})[1]
		<-time.After(time.Second)
		f.extend(time.Now().Add(2 * time.Second))
		if owned.Err() != nil {
			t.Error("renewed in time, and stopped")
		}
		<-time.After(2 * time.Second)
		if started := f.start(t.Context(), []int{2}); len(started) != 0 {
			t.Errorf("started too late: %v", started)
		}
		f.extend(time.Now().Add(2 * time.Second))
		if owned.Err() == nil || len(f.shards()) != 0 {
			t.Errorf("renewed too late, and it has %v", f.shards())
		}
		f.close()
	})
}
