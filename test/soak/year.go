// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// Year is a soak with an operator beside the consumers instead of killed processes: override policies, policies of other
// products, taints, quotas and Pod security in cells, clusters that change their city or are rebuilt, load balancers, clocks and
// data that change, and backups that are restored. The seed decides which move comes when, and the comparison at the end is the same.
type Year struct {
	*Soak
	// empty are the cells before the first Workload, and backups the newest backups of all planes.
	empty, backups map[string]*federation.Backup
	// names are the processes for the names of Workloads.
	names *federation.Names
}

// OperatorMove is one move of the operator, and its end.
type OperatorMove struct {
	// At is the time since the start, and Lasts the time until the operator takes the move back.
	At, Lasts time.Duration
	Kind      string
	// Cell and Project are the cluster and the project of a move that is about one.
	Cell, Project string
}

// String returns the move for the progress.
func (m OperatorMove) String() string {
	return fmt.Sprintf("%s, for %.0f s (cell %s, project %s)", m.Kind, m.Lasts.Seconds(), m.Cell, m.Project)
}

// A move lasts for a time between these.
const leastMove, mostMove = 3 * time.Second, 15 * time.Second

// backupEvery is the number of moves from one backup to the next: a backup may be most of a minute old when it is restored.
const backupEvery = 4

// planMoves returns the moves of a year, by time. All kinds come once before one comes again.
func planMoves(o Options, kinds, cells []string, random *rand.Rand) []OperatorMove {
	cells = slices.Sorted(slices.Values(cells))
	projects := slices.Sorted(slices.Values(o.Projects))
	var moves []OperatorMove
	var left []string
	for at := around(o.Interval, random); at < o.Duration; at += around(o.Interval, random) {
		if len(left) == 0 {
			left = slices.Clone(kinds)
			random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		}
		moves = append(moves, OperatorMove{
			At: at, Kind: left[0], Cell: cells[random.IntN(len(cells))], Project: projects[random.IntN(len(projects))],
			Lasts: leastMove + time.Duration(random.Int64N(int64(mostMove-leastMove))),
		})
		left = left[1:]
	}
	return moves
}

// Run executes the plan of the seed, and waits until project, hub and cells agree, as Soak.Run does.
func (y *Year) Run(ctx context.Context) (*Result, error) {
	// Before prepare, which finds the processes that are started again when they end by themselves.
	if err := y.startNames(ctx); err != nil {
		return nil, err
	}
	plan, err := y.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(y.backUpEmpty(ctx), y.serve(ctx)); err != nil {
		return nil, err
	}
	var cells []string
	for _, cell := range y.Federation.Cells() {
		cells = append(cells, cell.Name)
	}
	moves := planMoves(y.Options, moveKinds(y.Federation.WithoutMilo()), cells, newRandom(y.Seed, 3))
	y.printf("seed %d: %d operations on %d Workloads, %d moves of an operator, in %s", y.Seed, len(plan.Operations), y.Workloads,
		len(moves), y.Duration)
	result, err := y.during(ctx, plan, func(ctx context.Context) error { return y.operate(ctx, moves) })
	if err == nil {
		if unnamed := y.awaitNamed(ctx); unnamed != nil {
			result.Broken = append(result.Broken, unnamed.Error())
		}
	}
	return result, err
}

// operate makes one move after the other, and takes each back.
func (y *Year) operate(ctx context.Context, moves []OperatorMove) error {
	for n, move := range moves {
		if !sleepUntil(ctx, y.Clock, y.begin.Add(move.At)) {
			return context.Cause(ctx)
		}
		if n%backupEvery == 0 {
			if err := y.backUp(ctx); err != nil {
				return err
			}
		}
		y.printf("%s", move)
		back, err := moveTable[move.Kind](ctx, y, step{OperatorMove: move, name: fmt.Sprintf("year-%d", n)})
		if err == nil {
			sleepUntil(ctx, y.Clock, y.Clock.Now().Add(move.Lasts))
		}
		if back != nil {
			// A failed move is taken back, too, also after the end of ctx.
			err = errors.Join(err, back(context.WithoutCancel(ctx)))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", move, err)
		}
		y.mu.Lock()
		y.killed = append(y.killed, move.Kind)
		y.mu.Unlock()
	}
	return nil
}
