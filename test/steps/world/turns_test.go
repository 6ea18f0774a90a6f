// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"testing"
)

// TestYieldDuringInterrupt: a scenario that is interrupted while it waits for a cell has its turn, which it returns at
// its end.
func TestYieldDuringInterrupt(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	turns := make(turns, 1)
	if err := turns.take(ctx); err != nil {
		t.Fatal(err)
	}
	for _, await := range []func(context.Context) error{
		func(ctx context.Context) error { return ctx.Err() },
		func(context.Context) error { return nil },
	} {
		interrupt()
		err := turns.yield(ctx, await)
		if await(ctx) != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if len(turns) != 1 {
			t.Fatalf("%d turns are taken", len(turns))
		}
	}
}
