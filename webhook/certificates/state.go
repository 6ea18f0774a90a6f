// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"fmt"
	"time"

	"k8s.io/client-go/util/cert"
)

// state is what the Secret says.
type state struct {
	current  *ca // signs the leaves
	next     *ca // trusted ahead of its use
	previous *ca // trusted until its leaves are gone

	nextTrustedSince time.Time
	promotedAt       time.Time
	// force asks for a rotation before its time.
	force bool
}

// bundle is what clients must trust. It is never empty once there is a CA: an empty caBundle would make API servers
// trust the public authorities instead.
func (s state) bundle(now time.Time) ([]byte, error) {
	var certs []*x509.Certificate
	for _, c := range []*ca{s.current, s.next, s.previous} {
		if c != nil && !c.expired(now) {
			certs = append(certs, c.cert)
		}
	}
	if len(certs) == 0 && s.current != nil {
		certs = append(certs, s.current.cert)
	}
	return cert.EncodeCertificates(certs...)
}

// trust is the answer to whether every webhook configuration carries the bundle with the next CA in it.
type trust int

const (
	trustUnknown trust = iota // it could not be asked
	trustMissing
	trustComplete
)

// policy is how a state advances.
type policy struct {
	leafLifetime time.Duration
	trustDelay   time.Duration
	makeCA       func(now time.Time) (*ca, error)
}

// advance takes the one step that is due, if any, and says which. It takes one at a time because each must be
// published before the next is judged: trusted is about s, not about what s becomes.
func (p policy) advance(s state, now time.Time, trusted trust) (state, string, error) {
	var err error
	switch {
	case s.current == nil:
		s = state{}
		s.current, err = p.makeCA(now)
		return s, "made the first CA", err
	case s.next != nil && s.next.expired(now):
		s.next, s.nextTrustedSince = nil, time.Time{}
		return s, "dropped the next CA, which expired before it was used", nil
	case s.current.expired(now) && s.next != nil:
		// No client accepts the current CA any more, those that know the next one gain.
		return promote(s, now), "promoted the next CA at once, for the current one had expired", nil
	case s.current.expired(now):
		s.current, err = p.makeCA(now)
		return s, "replaced the CA at once, for it had expired; requests fail until it is trusted", err
	case trusted == trustMissing && !s.nextTrustedSince.IsZero():
		// A configuration was replaced since; the API servers need the whole delay again. This goes before the steps
		// that can wait, for the answer may be another one when it is asked again.
		s.nextTrustedSince = time.Time{}
		return s, "the next CA is no longer trusted", nil
	case s.previous != nil:
		if after, step := p.retire(s, now); step != "" {
			return after, step, nil
		}
	}
	return p.rotate(s, now, trusted)
}

// rotate is the way of a CA that is still valid.
func (p policy) rotate(s state, now time.Time, trusted trust) (state, string, error) {
	var err error
	switch {
	case s.next == nil && (s.force || due(s.current.cert, now)):
		s.next, err = p.makeCA(now)
		s.force, s.nextTrustedSince = false, time.Time{}
		return s, "made the next CA", err
	case s.next == nil:
		return s, "", nil
	case s.force:
		s.force = false
		return s, "a rotation was asked for that is under way already", nil
	case trusted == trustComplete && s.nextTrustedSince.IsZero():
		s.nextTrustedSince = stamp(now)
		return s, "the next CA is trusted", nil
	case trusted == trustComplete && s.previous == nil && !now.Before(s.nextTrustedSince.Add(p.trustDelay)):
		// With a previous CA still there, the step waits: there is room for three, and dropping that one early
		// would fail the leaves that it stays for.
		return promote(s, now), "promoted the next CA", nil
	}
	return s, "", nil
}

// retire drops the previous CA when no leaf under it is valid any more. A leaf ends with its CA at the latest.
func (p policy) retire(s state, now time.Time) (state, string) {
	switch {
	case s.previous.expired(now), !s.promotedAt.IsZero() && now.After(s.promotedAt.Add(p.leafLifetime)):
		s.previous, s.promotedAt = nil, time.Time{}
		return s, "dropped the previous CA"
	case s.promotedAt.IsZero():
		// The annotation was lost. The previous CA stays for a whole leaf's life from here.
		s.promotedAt = stamp(now)
		return s, "stamped the promotion of the current CA again"
	}
	return s, ""
}

func promote(s state, now time.Time) state {
	s.previous = nil
	if !s.current.expired(now) {
		s.previous = &ca{cert: s.current.cert}
	}
	s.current, s.next = s.next, nil
	s.nextTrustedSince, s.promotedAt = time.Time{}, stamp(now)
	return s
}

// stamp rounds up, for an annotation holds whole seconds and no delay may be cut short.
func stamp(now time.Time) time.Time {
	whole := now.UTC().Truncate(time.Second)
	if whole.Before(now) {
		whole = whole.Add(time.Second)
	}
	return whole
}

// describe names the CAs of a state in logs: serial numbers only.
func (s state) describe() []any {
	var values []any
	for _, c := range []struct {
		role string
		ca   *ca
	}{{"current", s.current}, {"next", s.next}, {"previous", s.previous}} {
		if c.ca != nil {
			values = append(values, c.role, fmt.Sprintf("%s until %s", c.ca.serial(), c.ca.cert.NotAfter.Format(time.RFC3339)))
		}
	}
	return values
}
