// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// doubt records Milo's answers about absent projects with objects in a hub namespace.
type doubt struct {
	// gone are the UIDs of projects that do not exist.
	gone []types.UID
	// since is when Milo first answered so, last when an answer was last counted, and answers the number of counted
	// answers.
	since, last time.Time
	answers     int
	// withdrawing: enough answers were counted, and the deletion has begun.
	withdrawing bool
	// held: the withdrawal waits for an operator.
	held bool
}

// covers reports whether the answers counted so far are about all of these projects.
func (d *doubt) covers(gone []types.UID) bool {
	return !slices.ContainsFunc(gone, func(uid types.UID) bool { return !slices.Contains(d.gone, uid) })
}

// interval returns the time between two answers that count: they are spread over After.
func (r *Namespaces) interval() time.Duration { return r.After / (answersNeeded - 1) }

// pause returns how long Milo need not be asked about a hub namespace.
func (r *Namespaces) pause(namespace string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.doubts[namespace]
	if d == nil || d.withdrawing || d.answers >= answersNeeded {
		return 0
	}
	return d.last.Add(r.interval()).Sub(r.Clock.Now())
}

// count counts an answer of Milo that projects do not exist. It returns how long to wait for the next answer, 0 if
// there were enough, and whether this is the first one.
func (r *Namespaces) count(namespace string, gone []types.UID) (wait time.Duration, isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Clock.Now()
	d := r.doubts[namespace]
	if d == nil || !d.covers(gone) {
		r.doubts[namespace] = &doubt{gone: gone, since: now, last: now, answers: 1}
		return r.interval(), true
	}
	d.last = now
	d.answers++
	if rest := d.since.Add(r.After).Sub(now); d.answers < answersNeeded || rest > 0 {
		return max(r.interval()/2, rest), false
	}
	return 0, false
}

// begin records that the withdrawal begins, and reports whether it had not begun yet.
func (r *Namespaces) begin(namespace string) (isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.doubts[namespace]
	if d == nil || d.withdrawing {
		return false
	}
	d.withdrawing = true
	return true
}

// hold records whether the withdrawal of a hub namespace waits for an operator.
func (r *Namespaces) hold(namespace string, held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.doubts[namespace]; d != nil {
		d.held = held
	}
}

// heldBack returns the number of hub namespaces whose withdrawal waits for an operator.
func (r *Namespaces) heldBack() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, d := range r.doubts {
		if d.held {
			count++
		}
	}
	return count
}

// forget forgets the answers about a hub namespace, so that the questions begin again.
func (r *Namespaces) forget(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.doubts, namespace)
}

// inDoubt returns the number of hub namespaces in doubt.
func (r *Namespaces) inDoubt() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.doubts)
}
