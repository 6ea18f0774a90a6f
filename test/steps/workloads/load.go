// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addLoadSteps adds the sentences about many Workloads.
func addLoadSteps(sc world.Sentences) {
	sc.Step(`^the consumer creates (\d+) Workloads( a second)?$`, func(ctx context.Context, count int, steadily string) error {
		s := from(ctx)
		c := s.Client(s.Plane(""), world.Consumer)
		s.state().load = &load{scenario: s, client: c, cancel: func() {}, ended: make(chan struct{})}
		s.state().load.running.SetLimit(atOnce)
		if steadily == "" {
			s.state().load.all(ctx, count)
			return nil
		}
		s.state().load.start(ctx, count)
		s.Disturbed.Add("the load", func(context.Context) error {
			s.state().load.finish()
			return nil
		})
		return nil
	})
	sc.Step(`^none of them was refused(?: or took more than (\d+) seconds)?$`, func(ctx context.Context, seconds string) error {
		l := from(ctx).state().load
		if err := l.result(); err != nil {
			return err
		}
		if seconds == "" {
			return nil
		}
		limit, err := time.ParseDuration(seconds + "s")
		if err == nil && l.slowest > limit {
			err = fmt.Errorf("one took %s", l.slowest)
		}
		return err
	})
}

// load is a stream of Workloads that a consumer creates as dry runs: admission reviews each, and none is stored, so
// that only admission is measured.
type load struct {
	scenario Steps
	client   client.Client
	cancel   context.CancelFunc
	ended    chan struct{}
	running  errgroup.Group

	mu       sync.Mutex
	count    int
	failures []error
	slowest  time.Duration
}

// create creates one Workload in the background, as soon as few enough others are being created.
func (l *load) create(ctx context.Context) {
	l.running.Go(func() error {
		l.createOne(ctx)
		return nil
	})
}

func (l *load) createOne(ctx context.Context) {
	workload := l.scenario.sampleWorkload()
	workload.Name = "load-" + rand.String(8)
	begin := time.Now()
	err := l.client.Create(ctx, workload, client.DryRunAll)
	took := time.Since(begin)
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.slowest = max(l.slowest, took)
	if err != nil {
		l.failures = append(l.failures, fmt.Errorf("at %s: %w", begin.Format(time.TimeOnly), err))
	}
}

// atOnce is the maximum number of concurrent creates.
const atOnce = 10

// start creates Workloads at a rate until the load is stopped. A slow request delays few others. On a machine that is
// too busy for the rate, fewer are created: unbounded requests would time out one after the other, independent of the
// server.
func (l *load) start(ctx context.Context, perSecond int) {
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(l.ended)
		ticker := time.NewTicker(time.Second / time.Duration(perSecond))
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				l.create(context.WithoutCancel(ctx))
			}
		}
	}()
}

// all creates a number of Workloads, several at once.
func (l *load) all(ctx context.Context, count int) {
	for range count {
		l.create(ctx)
	}
	close(l.ended)
}

// finish stops the load and waits for running requests.
func (l *load) finish() {
	l.cancel()
	<-l.ended
	_ = l.running.Wait() // failures are counted
}

// result returns an error if any Workload was refused.
func (l *load) result() error {
	l.finish()
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.scenario.Out, "%d Workloads were created, %d refused, the slowest took %s\n", l.count, len(l.failures),
		l.slowest.Round(time.Millisecond))
	if l.count == 0 {
		return errors.New("nothing was created")
	}
	const enough = 5
	return errors.Join(l.failures[:min(enough, len(l.failures))]...)
}
