// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/milo/shards"
)

// reach periodically asks Milo's root, to find out whether it answers this replica. It is safe for concurrent use.
//
// When Milo fails for all replicas, none of them may take that for its own fault. So a replica that gets no more answers reports that
// within two fifths of the time after which another replica may leave its shards to it.
type reach struct {
	root  client.Reader
	clock clock.WithDelayedExecution
	// after is how long all answers must have been missing, or present, before the change counts.
	after time.Duration

	mu sync.Mutex
	// asked reports that a question was sent, answered that the last one was answered, and changed that the last two had different
	// results.
	asked, answered, changed bool
	// since is when the first of the last questions was over that ended alike.
	since time.Time
}

// run asks until ctx ends.
func (r *reach) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := r.after / 5
		if !r.ask(ctx) {
			wait = r.after / 15
		}
		timer := r.clock.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		timer.Stop()
	}
}

// ask sends one question.
func (r *reach) ask(ctx context.Context) (answered bool) {
	bounded, cancel := context.WithTimeout(ctx, r.after/5)
	defer cancel()
	_, _, err := getProject(bounded, r.root, probeProject)
	answered = err == nil
	if ctx.Err() != nil {
		return answered
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked || answered != r.answered {
		r.changed, r.since = r.asked, r.clock.Now()
	}
	r.asked, r.answered = true, answered
	return answered
}

// state is the result of the questions so far. It counts at once for a process that has never had another result.
func (r *reach) state() shards.Reach {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.asked || r.changed && r.clock.Now().Sub(r.since) < r.after:
		return shards.Doubtful
	case r.answered:
		return shards.Reached
	default:
		return shards.Unreached
	}
}
