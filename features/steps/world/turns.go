// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
)

// turns limit how many do something at once: each takes a turn and gives it back.
type turns chan struct{}

// take waits for a turn. Whoever got an error has none to give back.
func (t turns) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// give gives a turn back.
func (t turns) give() error {
	<-t
	return nil
}

// yield gives a turn to others while something is waited for, and takes one again.
func (t turns) yield(ctx context.Context, await func(context.Context) error) error {
	<-t
	if err := await(ctx); err != nil {
		return errors.Join(err, t.take(context.WithoutCancel(ctx)))
	}
	return t.take(ctx)
}
