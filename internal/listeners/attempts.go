// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package listeners

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"strings"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

const (
	// attemptsPerSecond and attemptsAtOnce bound the failing attempts of one source, allPerSecond and allAtOnce the
	// attempts of all sources.
	attemptsPerSecond, attemptsAtOnce = 1, 20
	allPerSecond, allAtOnce           = 50, 200
	// maxSources bounds the sources whose attempts are counted, the last ones.
	maxSources = 4096
	// maxTokens bounds the known tokens.
	maxTokens = 1024
)

// Attempts bounds how often callers may fail to prove who they are, in all and from each source. It is safe for
// concurrent use.
type Attempts struct {
	clock   clock.PassiveClock
	all     *rate.Limiter
	sources *lru.Cache
}

// NewAttempts returns Attempts.
func NewAttempts(c clock.PassiveClock) *Attempts {
	return &Attempts{clock: c, all: rate.NewLimiter(allPerSecond, allAtOnce), sources: lru.New(maxSources)}
}

// Left reports whether the caller of a request may try to prove who it is.
func (a *Attempts) Left(r *http.Request) bool {
	now := a.clock.Now()
	return a.all.TokensAt(now) >= 1 && a.limiter(sourceOf(r.RemoteAddr)).TokensAt(now) >= 1
}

// Take counts an attempt of the caller of a request. It reports whether the caller had one left.
func (a *Attempts) Take(r *http.Request) bool {
	now := a.clock.Now()
	return a.limiter(sourceOf(r.RemoteAddr)).AllowN(now, 1) && a.all.AllowN(now, 1)
}

func (a *Attempts) limiter(source netip.Prefix) *rate.Limiter {
	if found, ok := a.sources.Get(source); ok {
		if limiter, ok := found.(*rate.Limiter); ok {
			return limiter
		}
	}
	limiter := rate.NewLimiter(attemptsPerSecond, attemptsAtOnce)
	a.sources.Add(source, limiter)
	return limiter
}

// Tokens bounds the TokenReviews that made-up tokens cause: a token that has not been accepted before is an attempt. It
// is safe for concurrent use.
type Tokens struct {
	attempts *Attempts
	accepted *lru.Cache
}

// NewTokens returns Tokens.
func NewTokens(c clock.PassiveClock) *Tokens {
	return &Tokens{attempts: NewAttempts(c), accepted: lru.New(maxTokens)}
}

// Admit reports whether the token of a request may be reviewed. A request without a token causes no review.
func (t *Tokens) Admit(r *http.Request) bool {
	key, ok := tokenOf(r)
	return !ok || t.admit(key, r)
}

func (t *Tokens) admit(key tokenHash, r *http.Request) bool {
	if _, known := t.accepted.Get(key); known {
		return true
	}
	return t.attempts.Take(r)
}

// Reviewed records whether the token of a request was accepted.
func (t *Tokens) Reviewed(r *http.Request, accepted bool) {
	if key, ok := tokenOf(r); ok {
		t.reviewed(key, accepted)
	}
}

func (t *Tokens) reviewed(key tokenHash, accepted bool) {
	if accepted {
		t.accepted.Add(key, nil)
		return
	}
	t.accepted.Remove(key)
}

// tokenHash is a hash of a token.
type tokenHash [sha256.Size]byte

func tokenOf(r *http.Request) (key tokenHash, ok bool) {
	header := r.Header.Get("Authorization")
	if strings.TrimSpace(header) == "" {
		return key, false
	}
	return sha256.Sum256([]byte(header)), true
}

// TooMany answers a caller that has no attempt left.
func TooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "10")
	w.Header().Set("Connection", "close")
	http.Error(w, "too many attempts with credentials that are not known here; try again later", http.StatusTooManyRequests)
}

type passedKey struct{}

// Guard bounds the TokenReviews of authenticate, which puts an authentication in front of a handler, and proves the
// connections of callers that it lets pass.
func (t *Tokens) Guard(next http.Handler, authenticate func(http.Handler) (http.Handler, error)) (http.Handler, error) {
	guarded, err := authenticate(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if passed, ok := r.Context().Value(passedKey{}).(*bool); ok {
			*passed = true
		}
		Prove(r.Context())
		next.ServeHTTP(w, r)
	}))
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Authenticators remove the token.
		key, ok := tokenOf(r)
		if ok && !t.admit(key, r) {
			TooMany(w)
			return
		}
		passed := false
		guarded.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passedKey{}, &passed)))
		if ok {
			t.reviewed(key, passed)
		}
	}), nil
}
