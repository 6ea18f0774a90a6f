// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"sync"
	"time"
)

// RequestInterval is the time between two requests of a client.
const RequestInterval = 50 * time.Millisecond

// Traffic is a client that sends requests, one after the other. It is safe for concurrent use.
type Traffic struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	counted Counted
}

// Counted holds the requests of a client so far.
type Counted struct {
	Sent     int
	Failures []error
	// Failed is when the last request failed, and Answered how many have been answered since.
	Failed   time.Time
	Answered int
}

// BeginTraffic sends a request every 50 ms until Stop or the end of ctx, each with its number from 0.
func BeginTraffic(ctx context.Context, send func(ctx context.Context, n int) error) *Traffic {
	ctx, cancel := context.WithCancel(ctx)
	t := &Traffic{cancel: cancel}
	t.done.Go(func() { t.run(ctx, send) })
	return t
}

func (t *Traffic) run(ctx context.Context, send func(ctx context.Context, n int) error) {
	ticker := time.NewTicker(RequestInterval)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := send(ctx, n); ctx.Err() == nil {
			t.count(err)
		}
	}
}

func (t *Traffic) count(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counted.Sent++
	t.counted.Answered++
	if err != nil {
		t.counted.Failures, t.counted.Failed, t.counted.Answered = append(t.counted.Failures, err), time.Now(), 0
	}
}

// Counted returns what the client has counted so far.
func (t *Traffic) Counted() Counted {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counted
}

// Stop ends the client, and returns what it has counted.
func (t *Traffic) Stop() Counted {
	t.cancel()
	t.done.Wait()
	return t.Counted()
}
