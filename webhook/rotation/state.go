// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import "time"

// State is the content of the Secret.
type State[T any] struct {
	// Current is used.
	Current *T
	// Next is accepted ahead of its use.
	Next *T
	// Previous is accepted until no caller depends on it.
	Previous *T

	// CurrentSince and NextSince are when they became current and next.
	CurrentSince, NextSince time.Time
	// RegisteredSince is the time since which every webhook configuration is known to have the item that this rotation waits for.
	RegisteredSince time.Time
	// Request is why a rotation begins before it is due: at once. "": it does not.
	Request string
	// Exposed is why the current item may be known to others: a rotation begins when the last one is Phases.Spacing ago. "": it is not.
	Exposed string
}

// String keeps items out of logs and errors: fmt does not ask the fields.
func (s State[T]) String() string { return "[secret]" }

// GoString keeps items out of logs and errors.
func (s State[T]) GoString() string { return s.String() }

// Items are the items of the state that exist: current, next, previous.
func (s State[T]) Items() []*T {
	var items []*T
	for _, item := range []*T{s.Current, s.Next, s.Previous} {
		if item != nil {
			items = append(items, item)
		}
	}
	return items
}

// Rotating reports whether a rotation is in progress.
func (s State[T]) Rotating() bool { return s.Next != nil || s.Previous != nil }

// Stamp rounds up: an annotation holds whole seconds, and no delay may be shortened.
func Stamp(now time.Time) time.Time {
	whole := now.UTC().Truncate(time.Second)
	if whole.Before(now) {
		whole = whole.Add(time.Second)
	}
	return whole
}
