// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

func TestTracker(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(began)
	tracker := NewTracker[string](clock)
	lasting, other := Finding{Fault: WorkMissing, Cell: "a"}, Finding{Fault: WorkMissing, Cell: "b"}
	known := Finding{Fault: WorkDeleting, Cell: "c", Since: began.Add(-time.Hour)}
	if got := tracker.Observe("web", []Finding{lasting, known}); !got[0].Since.Equal(began) || !got[1].Since.Equal(known.Since) {
		t.Errorf("at first: %+v", got)
	}
	clock.SetTime(began.Add(time.Minute))
	if got := tracker.Observe("web", []Finding{other, lasting}); !got[0].Since.Equal(clock.Now()) || !got[1].Since.Equal(began) {
		t.Errorf("a minute later: %+v", got)
	}
	if got := tracker.Observe("api", []Finding{lasting}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("of another deployment: %+v", got)
	}
	tracker.Observe("web", []Finding{other})
	clock.SetTime(began.Add(time.Hour))
	if got := tracker.Observe("web", []Finding{lasting}); !got[0].Since.Equal(clock.Now()) {
		t.Errorf("what ended begins anew: %+v", got)
	}
	tracker.Observe("web", nil)
	tracker.Observe("api", nil)
	if len(tracker.seen) > 0 {
		t.Errorf("of deployments in order it remembers %v", tracker.seen)
	}
}

func TestRest(t *testing.T) {
	for name, test := range map[string]struct {
		finding Finding
		want    time.Duration
	}{
		"new":                       {Finding{Since: began}, time.Minute},
		"older":                     {Finding{Since: began.Add(-40 * time.Second)}, 20 * time.Second},
		"old":                       {Finding{Since: began.Add(-time.Hour)}, 0},
		"by a clock that is ahead":  {Finding{Since: began.Add(time.Hour)}, time.Minute},
		"what is certain, from now": {Finding{Since: began, Certain: true}, 0},
	} {
		if got := test.finding.Rest(began, time.Minute); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
