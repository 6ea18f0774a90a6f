// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"fmt"
	"time"

	"k8s.io/client-go/util/cert"
)

// state is the content of the Secret.
type state struct {
	current  *ca // signs the leaves
	next     *ca // trusted ahead of its use
	previous *ca // trusted until its leaves are gone

	nextTrustedSince time.Time
	promotedAt       time.Time
	// force requests a rotation before it is due.
	force bool
}

// bundle is the PEM of the CAs that clients must trust. It is never empty once there is a CA: with an empty caBundle API
// servers trust the public authorities.
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

// trust says whether every webhook configuration has the bundle with the next CA.
type trust int

const (
	trustUnknown trust = iota // it could not be asked
	trustMissing
	trustComplete
)

// policy decides the steps of a rotation.
type policy struct {
	leafLifetime time.Duration
	trustDelay   time.Duration
	makeCA       func(now time.Time) (*ca, error)
}

// advance does the step that is due, if any, and describes it. It does one at a time, because each must be published before
// the next is decided: trusted is about s, not about the state that it returns.
func (p policy) advance(s state, now time.Time, trusted trust) (state, string, error) {
	var err error
	switch {
	case s.current == nil:
		s = state{}
		s.current, err = p.makeCA(now)
		return s, "created the first CA", err
	case s.next != nil && s.next.expired(now):
		s.next, s.nextTrustedSince = nil, time.Time{}
		return s, "dropped the next CA, which expired before it was used", nil
	case s.current.expired(now) && s.next != nil:
		// No client accepts the current CA any more, and some may trust the next one.
		return promote(s, now), "promoted the next CA at once, because the current one has expired", nil
	case s.current.expired(now):
		s.current, err = p.makeCA(now)
		return s, "replaced the CA at once, because it has expired; requests fail until it is trusted", err
	case trusted == trustMissing && !s.nextTrustedSince.IsZero():
		// A configuration was replaced since, and the API servers need the whole delay again. This comes before the steps
		// that can wait, because Trusted may answer differently next time.
		s.nextTrustedSince = time.Time{}
		return s, "the next CA is no longer trusted", nil
	case s.previous != nil:
		if after, step := p.retire(s, now); step != "" {
			return after, step, nil
		}
	}
	return p.rotate(s, now, trusted)
}

// rotate decides the step while the current CA is valid.
func (p policy) rotate(s state, now time.Time, trusted trust) (state, string, error) {
	var err error
	switch {
	case s.next == nil && (s.force || due(s.current.cert, now)):
		s.next, err = p.makeCA(now)
		s.force, s.nextTrustedSince = false, time.Time{}
		return s, "created the next CA", err
	case s.next == nil:
		return s, "", nil
	case s.force:
		s.force = false
		return s, "a rotation was requested and is in progress already", nil
	case trusted == trustComplete && s.nextTrustedSince.IsZero():
		s.nextTrustedSince = stamp(now)
		return s, "the next CA is trusted", nil
	case trusted == trustComplete && s.previous == nil && !now.Before(s.nextTrustedSince.Add(p.trustDelay)):
		// While there is a previous CA, the step waits: the state holds three, and dropping that one early would break
		// leaves that are still valid.
		return promote(s, now), "promoted the next CA", nil
	}
	return s, "", nil
}

// retire drops the previous CA when no leaf of it can be valid any more. A leaf expires with its CA at the latest.
func (p policy) retire(s state, now time.Time) (state, string) {
	switch {
	case s.previous.expired(now), !s.promotedAt.IsZero() && now.After(s.promotedAt.Add(p.leafLifetime)):
		s.previous, s.promotedAt = nil, time.Time{}
		return s, "dropped the previous CA"
	case s.promotedAt.IsZero():
		// The annotation is missing. The previous CA stays for the whole life of a leaf from now.
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

// stamp rounds up: an annotation holds whole seconds, and no delay may be shortened.
func stamp(now time.Time) time.Time {
	whole := now.UTC().Truncate(time.Second)
	if whole.Before(now) {
		whole = whole.Add(time.Second)
	}
	return whole
}

// describe lists the CAs of a state for logs, by serial number.
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
