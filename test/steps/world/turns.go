// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
)

// turns limits concurrency: each user takes a turn and returns it.
type turns chan struct{}

// take waits for a turn. After an error, no turn must be returned.
func (t turns) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// give returns a turn.
func (t turns) give() error {
	<-t
	return nil
}

// yield returns a turn during a wait, and takes one again afterwards, in any case: its user returns it.
func (t turns) yield(ctx context.Context, await func(context.Context) error) error {
	<-t
	return errors.Join(await(ctx), t.take(context.WithoutCancel(ctx)))
}
