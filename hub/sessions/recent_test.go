// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	testclock "k8s.io/utils/clock/testing"
)

// TestRunningStreamsShareAnswers: the requests of checks do not grow with the number of streams, and each check gets a
// new answer after sharedFor.
func TestRunningStreamsShareAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.NotFoundHandler())
	_, grant := f.create(t, newKey(t))
	clock := testclock.NewFakeClock(time.Now())
	direct := places{hub: f.Hub, projects: &project{client: f.Project}}
	watched := direct.shared(newAnswers(clock))
	requests := func() int { return len(f.Hub.Calls()) + len(f.Project.Calls()) }

	want, err := direct.find(t.Context(), grant)
	if err != nil {
		t.Fatal(err)
	}
	alone := requests()
	check := func() {
		t.Helper()
		var group errgroup.Group
		for range 50 {
			group.Go(func() error {
				at, err := watched.find(t.Context(), grant)
				if err == nil && at != want {
					t.Errorf("got %v, want %v", at, want)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		if got := requests(); got == 0 || got > alone {
			t.Errorf("50 checks sent %d requests, and one alone %d", got, alone)
		}
	}
	check()
	clock.Step(sharedFor + time.Second)
	if err := f.Client.Delete(t.Context(), f.instance); err != nil {
		t.Fatal(err)
	}
	if _, err := watched.find(t.Context(), grant); err == nil {
		t.Error("an Instance is found after its deletion")
	}
}
