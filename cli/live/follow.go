// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"

	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// Follow shows the tree of the Workload as it changes, until done returns true, ctx ends, or the reader of the output is gone. It
// returns the last state.
func (w *Watch) Follow(ctx context.Context, screen *terminal.Screen, wide bool, done func(*view.Snapshot) bool) (last *view.Snapshot, err error) {
	defer screen.End()
	err = w.Each(ctx, func(s *view.Snapshot) (bool, error) {
		last = s
		screen.Show(w.lines(s, view.Layout{Columns: max(screen.Columns()-indent, 0), Wide: wide}))
		return done(s), screen.Err()
	})
	return last, err
}

// Each calls do with each state, and with each tick of a terminal's clock, until do returns done.
func (w *Watch) Each(ctx context.Context, do func(*view.Snapshot) (done bool, err error)) error {
	var current *view.Snapshot
	for {
		read, err := w.Snapshot(ctx)
		switch {
		case err == nil:
			current = read
		case current == nil || ctx.Err() != nil:
			return err
		default:
			w.failed(ctx, nil, err)
		}
		if done, err := do(current); done || err != nil {
			return err
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
	}
}

// indent is the indentation of a screen's block.
const indent = 2

func (w *Watch) lines(s *view.Snapshot, l view.Layout) []string {
	var lines []string
	if problem := w.Problem(); problem != "" {
		lines = append(lines, terminal.Wrap(terminal.Clean(problem), l.Columns)...)
	}
	if s.Gone() {
		return append(lines, "no objects")
	}
	return append(lines, s.Tree().Lines(l)...)
}
