// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// errGivenUp says that too many updates in a row did not arrive.
var errGivenUp = errors.New("too many updates in a row did not arrive")

// carried are the results of a carriage.
type carried struct {
	writing, latency samples
	alone, together  outcome
	perSecond        float64
	// written has the writes by kind of the sequential updates.
	written map[string]written
	// cpu has the CPU time for them, by name of the process.
	cpu map[string]time.Duration
}

// outcome counts updates. It is safe for concurrent use.
type outcome struct {
	mu             sync.Mutex
	tried, arrived int
	// last is when the last one arrived.
	last time.Time
}

func (o *outcome) note(arrived bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tried++
	if arrived {
		o.arrived++
		o.last = time.Now()
	}
}

// total is the sum of writes of all kinds.
func (c *carried) total() written {
	var sum written
	for w := range maps.Values(c.written) {
		sum.writes += w.writes
		sum.bytes += w.bytes
	}
	return sum
}

// oneByOne updates the first subject sequentially, and no other.
func (c *carriage) oneByOne(ctx context.Context) error {
	before, cpuBefore := c.writtenSoFar(), c.planes.cpu()
	for range c.updates {
		writing, carrying, err := c.update(ctx, c.tracks[0], c.options.deadline)
		c.result.alone.note(err == nil)
		if err == nil {
			c.result.writing.add(writing)
			c.result.latency.add(carrying)
		}
		if err := c.bear(ctx, c.tracks[0], err); errors.Is(err, errGivenUp) {
			break
		} else if err != nil {
			return err
		}
	}
	if err := c.settle(ctx); err != nil {
		return err
	}
	c.result.written, c.result.cpu = map[string]written{}, map[string]time.Duration{}
	for kind, sum := range c.writtenSoFar() {
		c.result.written[kind] = sum.minus(before[kind])
	}
	for process, used := range c.planes.cpu() {
		c.result.cpu[process] = used - cpuBefore[process]
	}
	return nil
}

// leastTogether is the least number of updates of each subject when all are updated: a rate of fewer would be random.
const leastTogether = 2

// allTogether updates all subjects concurrently, each as fast as the hub shows its updates. The rate is from the first write
// to the last arrival.
func (c *carriage) allTogether(ctx context.Context) error {
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range c.tracks {
		t.failures = 0
		group.Go(func() error {
			for n := 0; n < leastTogether || time.Since(began) < c.options.duration; n++ {
				_, _, err := c.update(ctx, t, c.options.deadline)
				c.result.together.note(err == nil)
				if err := c.bear(ctx, t, err); errors.Is(err, errGivenUp) {
					return nil
				} else if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if took := c.result.together.last.Sub(began); took > 0 {
		c.result.perSecond = float64(c.result.together.arrived) / took.Seconds()
	}
	return nil
}

// bear decides after an update whether to continue: it returns nil, errGivenUp, or why the measurement has ended.
func (c *carriage) bear(ctx context.Context, t *track, err error) error {
	if err == nil {
		t.failures = 0
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.progress.printf("%s: %v", c.title(), err)
	if t.failures++; t.failures >= c.options.giveUp {
		return errGivenUp
	}
	return nil
}
