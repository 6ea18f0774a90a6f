// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

const (
	// unsettled is how long requests are refused after a restart. Milo takes about 30 s.
	unsettled = 2 * time.Second
	// remembered is how long watches that resume are closed.
	remembered = 2 * time.Minute
	// mastersGroup has all rights at once, as at any API server.
	mastersGroup = "system:masters"
)

// restart simulates Milo's answers after a restart: 429 at first, then 403 until Milo has read its roles, and it closes
// a watch at once that resumes from before the restart. A client that has listed watches as usual. The methods of a nil
// restart do nothing. It is safe for concurrent use.
type restart struct {
	clock clock.PassiveClock
	at    time.Time

	mu     sync.Mutex
	listed map[string]bool
}

func newRestart(c clock.PassiveClock) *restart {
	return &restart{clock: c, at: c.Now(), listed: map[string]bool{}}
}

// refusal returns the answer to any request, or nil once Milo has settled.
func (r *restart) refusal(who caller) *apierrors.StatusError {
	if r == nil || slices.Contains(who.groups, mastersGroup) {
		return nil
	}
	switch since := r.clock.Since(r.at); {
	case since < unsettled/2:
		return apierrors.NewTooManyRequests("Milo is starting, try again", retrySeconds)
	case since < unsettled:
		return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("Milo is starting and knows no roles yet"))
	default:
		return nil
	}
}

// closes reports whether a request is a watch that resumes.
func (r *restart) closes(request *http.Request, user string) bool {
	if r == nil || request.Method != http.MethodGet || r.clock.Since(r.at) > remembered {
		return false
	}
	key, query := user+" "+request.URL.Path, request.URL.Query()
	isWatch := query.Get("watch") == "true" || query.Get("watch") == "1"
	r.mu.Lock()
	defer r.mu.Unlock()
	if !isWatch || query.Get("sendInitialEvents") == "true" || query.Get("resourceVersion") == "" {
		r.listed[key] = true
		return false
	}
	return !r.listed[key]
}
