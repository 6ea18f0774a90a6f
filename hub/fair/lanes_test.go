// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair_test

import (
	"context"
	"sync"
	"testing"

	"github.com/karmada-compute/karmada-compute/hub/fair"
)

// TestALaneThatBeginsAtTheEnd: a lane that begins while the replica ends attends to nothing, and does not panic.
func TestALaneThatBeginsAtTheEnd(t *testing.T) {
	t.Parallel()
	for range 300 {
		l := &fair.Lanes[int, string]{Attend: func(ctx context.Context, _ string) fair.Next { _ = ctx.Err(); return fair.Next{} }}
		ctx, cancel := context.WithCancel(t.Context())
		l.Start(ctx)
		var adding sync.WaitGroup
		for party := range 8 {
			adding.Go(func() { l.Add(party, "thing") })
		}
		cancel()
		l.Stop()
		adding.Wait()
		if l.Add(0, "late") {
			t.Fatal("a thing is accepted that nobody attends to")
		}
	}
}

// TestLanesAreIndependent: while everything of one party hangs, the things of another are attended to, again until they are done.
func TestLanesAreIndependent(t *testing.T) {
	t.Parallel()
	ended, tries := make(chan struct{}), 0
	l := &fair.Lanes[string, string]{Attend: func(ctx context.Context, thing string) fair.Next {
		if thing != "quick" {
			<-ctx.Done()
			return fair.Next{}
		}
		if tries++; tries < 3 {
			return fair.Next{Again: true}
		}
		close(ended)
		return fair.Next{}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	l.Start(ctx)
	for _, thing := range []string{"a", "b", "c", "d", "e", "f"} {
		l.Add("hanging", thing)
	}
	l.Add("quick", "quick")
	<-ended
	cancel()
	l.Stop()
	if tries != 3 {
		t.Errorf("it was attended to %d times", tries)
	}
}
