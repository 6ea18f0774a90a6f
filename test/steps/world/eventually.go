// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// Patience is the timeout of a condition. It is generous: the machine may be slow and busy.
	Patience = 5 * time.Minute
	// FirstInterval is the first interval: a condition is polled often at first, and less often the longer it takes.
	FirstInterval = 50 * time.Millisecond
	lastInterval  = 400 * time.Millisecond
)

// Eventually waits until check returns nil. After the timeout it returns the last error of check.
func Eventually(ctx context.Context, check func(context.Context) error) error {
	return Within(ctx, Patience, check)
}

// Within is Eventually with another timeout.
func Within(ctx context.Context, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	delays := wait.Backoff{Duration: FirstInterval, Factor: 1.2, Steps: 1000, Cap: lastInterval}
	err := delays.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		// An error that reports only the timeout would hide the previous error.
		if err != nil && ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err == nil {
		return nil
	}
	if last == nil {
		last = errors.New("nothing was answered")
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("interrupted; last: %w", last)
	}
	return fmt.Errorf("after %s: %w", limit, last)
}

// Pause waits while other processes act or a sentence watches.
func Pause(ctx context.Context, period time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(period):
		return nil
	}
}
