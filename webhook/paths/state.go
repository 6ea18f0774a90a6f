// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import "time"

// state is the content of the Secret.
type state struct {
	current  key // is registered
	next     key // is accepted ahead of its registration
	previous key // is accepted until no API server uses it any more

	currentSince time.Time
	nextSince    time.Time
	// carriedSince is since when every webhook configuration is known to have the paths of the current key.
	carriedSince time.Time
	// force requests a rotation before it is due.
	force bool
}

// String keeps keys out of logs and errors: fmt does not ask the fields that are not exported.
func (s state) String() string { return "[keys]" }

// GoString keeps keys out of logs and errors.
func (s state) GoString() string { return s.String() }

// accepts says whether any key of the state accepts the secret. It always asks all of them.
func (s state) accepts(plain, secret string) bool {
	accepted := false
	for _, k := range []key{s.current, s.next, s.previous} {
		accepted = k.accepts(plain, secret) || accepted
	}
	return accepted
}

// rotating says whether a rotation is in progress.
func (s state) rotating() bool { return s.next != nil || s.previous != nil }

// carried says whether every webhook configuration has the paths of the current key.
type carried int

const (
	carriedUnknown carried = iota // it could not be asked, or nobody knows
	carriedMissing
	carriedComplete
)

// policy decides the steps of a rotation.
type policy struct {
	// lifetime of a key; 0: it is replaced on request only.
	lifetime time.Duration
	// learning is how long replicas get to read a new key.
	learning time.Duration
	// delay is how long API servers get to observe changed configurations.
	delay   time.Duration
	makeKey func() (key, error)
}

// advance does the step that is due, if any, and describes it. It does one at a time, because each must be published before
// the next is decided: has is about s, not about the state that it returns.
func (p policy) advance(s state, now time.Time, has carried) (state, string, error) {
	var err error
	switch {
	case s.current == nil:
		s = state{currentSince: stamp(now)}
		s.current, err = p.makeKey()
		return s, "created the first key", err
	case s.currentSince.IsZero():
		s.currentSince = stamp(now)
		return s, "stamped the age of the current key again", nil
	case s.next != nil:
		after, step := p.promote(s, now)
		return after, step, nil
	case s.previous != nil:
		// A request for a rotation waits: what is registered now may be the reason for it.
		after, step := p.retire(s, now, has)
		return after, step, nil
	case s.force, p.lifetime > 0 && !now.Before(s.currentSince.Add(p.lifetime)):
		s.next, err = p.makeKey()
		s.force, s.nextSince = false, stamp(now)
		return s, "created the next key", err
	}
	return s, "", nil
}

// promote makes the next key the current one when every replica has had the time to read it.
func (p policy) promote(s state, now time.Time) (state, string) {
	switch {
	case s.force:
		s.force = false
		return s, "a rotation was requested and is in progress already"
	case s.nextSince.IsZero():
		// The annotation is missing: replicas get the whole time from now.
		s.nextSince = stamp(now)
		return s, "stamped the creation of the next key again"
	case now.Before(s.nextSince.Add(p.learning)):
		return s, ""
	}
	s.previous, s.current, s.next = s.current, s.next, nil
	s.currentSince, s.nextSince, s.carriedSince = stamp(now), time.Time{}, time.Time{}
	return s, "promoted the next key"
}

// retire drops the previous key when no API server uses it any more.
func (p policy) retire(s state, now time.Time, has carried) (state, string) {
	switch {
	case has == carriedMissing && !s.carriedSince.IsZero():
		// A configuration was replaced since, and the API servers need the whole delay again.
		s.carriedSince = time.Time{}
		return s, "the current key is no longer registered everywhere"
	case has == carriedComplete && s.carriedSince.IsZero():
		s.carriedSince = stamp(now)
		return s, "the current key is registered everywhere"
	case has == carriedComplete && !now.Before(s.carriedSince.Add(p.delay)):
		s.previous, s.carriedSince = nil, time.Time{}
		return s, "dropped the previous key"
	}
	return s, ""
}

// stamp rounds up: an annotation holds whole seconds, and no delay may be shortened.
func stamp(now time.Time) time.Time {
	whole := now.UTC().Truncate(time.Second)
	if whole.Before(now) {
		whole = whole.Add(time.Second)
	}
	return whole
}
