// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import "time"

// Kind implements the rotated items. Its methods must not quote items in errors.
type Kind[T any] interface {
	// New creates an item.
	New(now time.Time) (*T, error)
	// Due reports whether the current item should be replaced.
	Due(current *T, since, now time.Time) bool
	// Expired reports whether callers refuse an item because of its age.
	Expired(item *T, now time.Time) bool
	// Former is the part of an item that is kept when another one replaces it.
	Former(item *T) *T
	// Decode reads the item of a role from the data of the Secret, nil if it does not exist.
	Decode(data map[string][]byte, role Role) (*T, error)
	// Encode writes the item of a role into the data of the Secret. A nil item is deleted.
	Encode(item *T, data map[string][]byte, role Role) error
}

// Phases are the pauses of a rotation.
type Phases struct {
	// Ahead reports that callers must know the next item before it is used.
	Ahead bool
	// Delay is how long API servers get to observe changed webhook configurations.
	Delay time.Duration
	// Settle is the pause that callers have no part in. With Ahead, how long the previous item stays after its last use;
	// otherwise how long replicas get to read the next one.
	Settle time.Duration
	// Spacing is the least age of the current item at which an exposure replaces it.
	Spacing time.Duration
}

// Registered reports whether every webhook configuration has the item that a rotation waits for.
type Registered int

// The answers.
const (
	// RegisteredUnknown: it could not be asked.
	RegisteredUnknown Registered = iota
	RegisteredMissing
	RegisteredComplete
)

// CauseDue and the others are the reasons why a rotation begins. The causes of exposures are passed to Keeper.Expose.
const (
	CauseDue       = "due"
	CauseRequested = "requested"
	CauseDeleted   = "deleted"
	CauseExpired   = "expired"
)

// Step is the step that Advance has taken.
type Step struct {
	// Does describes the step. "": no step.
	Does string
	// Cause is the reason why a rotation begins. "": no rotation begins.
	Cause string
}

// Policy decides the steps of a rotation.
type Policy[T any] struct {
	Kind   Kind[T]
	Phases Phases
}

// Awaits reports whether the next step depends on the webhook configurations.
func (p Policy[T]) Awaits(s State[T]) bool {
	if p.Phases.Ahead {
		return s.Next != nil
	}
	return s.Previous != nil
}

// Advance does the step that is due, if any. It does one at a time, because each must be published before the next is
// decided: registered is about s, not about the state that it returns.
func (p Policy[T]) Advance(s State[T], now time.Time, registered Registered) (State[T], Step, error) {
	switch {
	case s.Current == nil:
		first, err := p.Kind.New(now)
		return State[T]{Current: first, CurrentSince: Stamp(now)}, Step{Does: "created the first"}, err
	case s.Next != nil && p.Kind.Expired(s.Next, now):
		s.Next, s.NextSince, s.RegisteredSince = nil, time.Time{}, time.Time{}
		return s, Step{Does: "deleted the next, which expired before it was used"}, nil
	case p.Kind.Expired(s.Current, now):
		return p.replace(s, now)
	case s.CurrentSince.IsZero():
		// The annotation is missing: every pause is counted from now.
		s.CurrentSince = Stamp(now)
		return s, Step{Does: "stamped the age of the current again"}, nil
	case p.Awaits(s) && registered != RegisteredUnknown && s.RegisteredSince.IsZero() == (registered == RegisteredComplete):
		after, step := p.note(s, now, registered)
		return after, step, nil
	case s.Previous != nil && p.retires(s, now, registered):
		s.Previous = nil
		if !p.Phases.Ahead {
			s.RegisteredSince = time.Time{}
		}
		return s, Step{Does: "deleted the previous"}, nil
	case s.Next == nil:
		return p.begin(s, now)
	}
	after, step := p.finish(s, now, registered)
	return after, step, nil
}

// note records changes of the webhook configurations.
func (p Policy[T]) note(s State[T], now time.Time, registered Registered) (State[T], Step) {
	if registered == RegisteredComplete {
		s.RegisteredSince = Stamp(now)
		return s, Step{Does: "every webhook configuration is up to date"}
	}
	// A configuration was replaced since, and the API servers need the whole delay again.
	s.RegisteredSince = time.Time{}
	return s, Step{Does: "some webhook configuration is no longer up to date"}
}

// replace replaces an expired item at once: callers refuse it already, and some may know the next one.
func (p Policy[T]) replace(s State[T], now time.Time) (State[T], Step, error) {
	if s.Next != nil {
		return p.promote(s, now), Step{Does: "promoted the next at once, because the current one has expired"}, nil
	}
	created, err := p.Kind.New(now)
	s.Current, s.CurrentSince = created, Stamp(now)
	return s, Step{Does: "replaced the current at once, because it has expired; requests fail until callers know it", Cause: CauseExpired}, err
}

// begin creates the next item if there is a cause.
func (p Policy[T]) begin(s State[T], now time.Time) (State[T], Step, error) {
	cause := ""
	switch {
	case s.Request != "":
		cause = s.Request
	case s.Exposed != "" && !now.Before(s.CurrentSince.Add(p.Phases.Spacing)):
		cause = s.Exposed
	case p.Kind.Due(s.Current, s.CurrentSince, now):
		cause = CauseDue
	default:
		return s, Step{}, nil
	}
	next, err := p.Kind.New(now)
	s.Next, s.NextSince, s.Request, s.Exposed = next, Stamp(now), "", ""
	if p.Phases.Ahead {
		s.RegisteredSince = time.Time{}
	}
	return s, Step{Does: "created the next", Cause: cause}, err
}

// finish promotes the next item when the pause before that is over. While there is a previous item it waits: the state
// holds three, and some caller may depend on that one.
func (p Policy[T]) finish(s State[T], now time.Time, registered Registered) (State[T], Step) {
	since, pause := s.NextSince, p.Phases.Settle
	if p.Phases.Ahead {
		since, pause = s.RegisteredSince, p.Phases.Delay
	}
	switch {
	case s.Request != "" || s.Exposed != "":
		s.Request, s.Exposed = "", ""
		return s, Step{Does: "a rotation was requested and is in progress already"}
	case !p.Phases.Ahead && since.IsZero():
		s.NextSince = Stamp(now)
		return s, Step{Does: "stamped the creation of the next again"}
	case s.Previous != nil, since.IsZero(), now.Before(since.Add(pause)), p.Phases.Ahead && registered != RegisteredComplete:
		return s, Step{}
	}
	return p.promote(s, now), Step{Does: "promoted the next"}
}

// retires reports whether no caller depends on the previous item.
func (p Policy[T]) retires(s State[T], now time.Time, registered Registered) bool {
	if p.Phases.Ahead {
		return p.Kind.Expired(s.Previous, now) || now.After(s.CurrentSince.Add(p.Phases.Settle))
	}
	return registered == RegisteredComplete && !now.Before(s.RegisteredSince.Add(p.Phases.Delay))
}

func (p Policy[T]) promote(s State[T], now time.Time) State[T] {
	s.Previous = nil
	if !p.Kind.Expired(s.Current, now) {
		s.Previous = p.Kind.Former(s.Current)
	}
	s.Current, s.Next = s.Next, nil
	s.CurrentSince, s.NextSince, s.RegisteredSince = Stamp(now), time.Time{}, time.Time{}
	return s
}

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
	// RegisteredSince is the time since which every webhook configuration is known to have the item that this rotation
	// waits for.
	RegisteredSince time.Time
	// Request is why a rotation begins before it is due: at once. "": it does not.
	Request string
	// Exposed is why the current item may be known to others: a rotation begins when the last one is Phases.Spacing ago.
	// "": it is not.
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
