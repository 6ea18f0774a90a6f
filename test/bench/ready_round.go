// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// readyRound is one measurement of a subject.
type readyRound struct {
	*readySubject
	*readyOptions

	seen   *readyNames
	result readyResult
}

// readyResult is the result of measuring a subject.
type readyResult struct {
	latency summary
	// perSecond is the rate of the burst.
	perSecond float64
	// writes are the writes per object.
	writes writeCounts
	// cpu is the CPU time per object of the burst, until the hub was at rest again.
	cpu cpuTimes
	// timeline are the requests of the last object.
	timeline [][]string
}

// measure creates objects one after the other, and then many at once. Each begins when the hub is at rest.
func (r *readySubject) measure(ctx context.Context, o *readyOptions) (*readyResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	round := &readyRound{readySubject: r, readyOptions: o, seen: r.follow(ctx)}
	for _, step := range []func(context.Context) error{r.stage.rest, round.oneByOne, r.stage.rest, round.atOnce} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return &round.result, nil
}

func (r *readyRound) oneByOne(ctx context.Context) error {
	latency := &samples{}
	var begin, last time.Time
	var name string
	for i := range r.warmup + r.n {
		if i == r.warmup {
			begin = time.Now()
		}
		select {
		case <-time.After(r.pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		name, last = fmt.Sprintf("one-%d", i), time.Now()
		took, err := r.one(ctx, r.seen, name, r.deadline)
		if err != nil {
			return err
		}
		if i >= r.warmup {
			latency.add(took)
		}
	}
	r.result.latency = latency.summary()
	if r.timeline {
		events, err := r.stage.timeline(name, last, time.Now())
		if err != nil {
			return err
		}
		r.result.timeline = timelineRows(r.name, last, events)
	}
	var err error
	r.result.writes, err = r.stage.writesSince(begin, r.n, readyPlanes)
	return err
}

func (r *readyRound) atOnce(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	before, begin := r.stage.cpu(), time.Now()
	for i := range r.burst {
		group.Go(func() error {
			_, err := r.one(groupCtx, r.seen, fmt.Sprintf("burst-%d", i), r.deadline)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	r.result.perSecond = float64(r.burst) / time.Since(begin).Seconds()
	err := r.stage.rest(ctx)
	r.result.cpu = r.stage.cpu().since(before).each(r.burst)
	return err
}
