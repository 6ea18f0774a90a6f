// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// engage engages the project until the context ends, as the manager does when this replica acquires the project's
// shard.
func engage(ctx context.Context, t *testing.T, book *path.Book) {
	t.Helper()
	source, _, err := book.Engagements().ForCluster(planes.ProjectName, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Start(ctx, nil); err != nil {
		t.Fatal(err)
	}
}

// TestAProjectThatMovesAwayAndBack: findings from before another replica had the project are no longer shown, and count
// again only if they have lasted since the project returned.
func TestAProjectThatMovesAwayAndBack(t *testing.T) {
	t.Parallel()
	f := newDeploymentsFixture(t)
	first, giveUp := context.WithCancel(t.Context())
	engage(first, t, f.reconciler.Book)
	f.slice(t)
	f.repair(t)
	shown := func() int { return len(f.reconciler.Book.OfSlices(f.request())) }
	if shown() != 1 {
		t.Fatal("there is nothing to forget")
	}
	stale := f.reconciler.Book.OfSlices(f.request())

	f.reconciler.Book.SetSlicesJudged(f.request(), f.clock.Now())
	giveUp()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return shown() == 0, nil
	}); err != nil {
		t.Fatal("it is shown when the project is given up")
	}
	// A reconcile in progress.
	f.reconciler.Book.Replace(f.request(), path.SlicePaths, stale)
	engage(t.Context(), t, f.reconciler.Book)
	if shown() != 0 {
		t.Error("it is shown when the project is back")
	}
	if !f.reconciler.Book.SlicesJudged(f.request()).IsZero() {
		t.Error("its slices wait for their next audit")
	}
	if _, writes := f.audit(t); len(writes) > 0 || shown() != 0 {
		t.Errorf("it counts at once: %d are shown, and it writes %v", shown(), writes)
	}
	f.pass(after)
	if _, _ = f.audit(t); shown() != 1 {
		t.Error("it is not found again")
	}
}
