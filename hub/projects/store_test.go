// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// engage engages project "north" until the context ends, and returns its value.
func engage(ctx context.Context, t *testing.T, s *projects.Store[*projects.Engagement]) *projects.Engagement {
	t.Helper()
	source, engaged, err := s.ForCluster("north", nil)
	if err != nil || !engaged {
		t.Fatalf("engaged is %t: %v", engaged, err)
	}
	if err := source.Start(ctx, nil); err != nil {
		t.Fatal(err)
	}
	return s.Of("north")
}

func TestStore(t *testing.T) {
	dropped := make(chan *projects.Engagement, 3)
	s := &projects.Store[*projects.Engagement]{
		New:     func(e projects.Engagement) *projects.Engagement { return &e },
		Dropped: func(e *projects.Engagement) { dropped <- e },
	}
	if _, ok := s.Get("north"); ok {
		t.Error("there is a value before anybody has asked for one")
	}
	early := s.Of("north")
	if early != s.Of("north") || early.Context != nil || s.Of("south") == early {
		t.Error("the value of a project that is not engaged is not its own")
	}
	first, end := context.WithCancel(t.Context())
	before := engage(first, t, s)
	if before == early || before.Context != first || <-dropped != early {
		t.Error("an engagement does not begin with a new value")
	}
	second, endSecond := context.WithCancel(t.Context())
	after := engage(second, t, s)
	if after == before || <-dropped != before {
		t.Error("the second engagement does not begin with a new value")
	}
	end()
	endSecond()
	if got := <-dropped; got != after {
		t.Error("the end of the first engagement ends the second")
	}
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, ok := s.Get("north")
		return !ok, nil
	}); err != nil || len(s.All()) != 1 {
		t.Errorf("the value stays: %v", err)
	}
}

// TestAReconcileThatEndsLater: a reconcile that was running when its project was disengaged leaves no value behind.
func TestAReconcileThatEndsLater(t *testing.T) {
	s := &projects.Store[*projects.Engagement]{New: func(e projects.Engagement) *projects.Engagement { return &e }}
	engagement, end := context.WithCancel(t.Context())
	engage(engagement, t, s)
	end()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, ok := s.Get("north")
		return !ok, nil
	}); err != nil {
		t.Fatal(err)
	}
	if late := s.Of("north"); late == nil || late.Context != nil {
		t.Errorf("a reconcile that ends later gets %+v", late)
	}
	if _, kept := s.Get("north"); kept {
		t.Error("the value of a reconcile that ends later stays forever")
	}
	if third := engage(t.Context(), t, s); third != s.Of("north") || third.Context == nil {
		t.Error("a later engagement has no value of its own")
	}
}
