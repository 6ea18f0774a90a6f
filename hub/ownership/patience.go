// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// AnswersNeeded is how many answers that an owner is gone are needed in a row, before a whole project is withdrawn.
const AnswersNeeded = 3

// Patience counts the answers that owners are gone: enough of them in a row, spread over a time, prove it. Any other
// answer restarts the questions. It is safe for concurrent use.
type Patience struct {
	after time.Duration
	clock clock.PassiveClock

	mu     sync.Mutex
	doubts map[string]*doubt
}

// doubt records the answers about one owner.
type doubt struct {
	// since is when the first answer was counted, last when the last one was, and answers is their number; 0: another
	// answer was given, and its record may still be there.
	since, last time.Time
	answers     int
	// withdrawing: the deletion has begun. held: it waits for an operator.
	withdrawing, held bool
}

// NewPatience returns a Patience that wants the answers over this time.
func NewPatience(after time.Duration, c clock.PassiveClock) *Patience {
	return &Patience{after: after, clock: c, doubts: map[string]*doubt{}}
}

// interval returns the time between two answers that count.
func (p *Patience) interval() time.Duration { return p.after / (AnswersNeeded - 1) }

// Recall continues the questions of another process, or of another replica, from its record. After a longer pause they
// begin again: its answers are not in a row. The record alone proves nothing: the last answer is always a present one.
func (p *Patience) Recall(key, record string) {
	recorded, known := parseDoubt(record)
	now := p.clock.Now()
	if !known || now.Sub(recorded.last) > p.after || recorded.last.After(now) || recorded.answers >= AnswersNeeded {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doubts[key] == nil {
		p.doubts[key] = recorded
	}
}

// Remaining returns how long no question is needed.
func (p *Patience) Remaining(key string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.doubts[key]
	if d == nil || d.withdrawing || d.answers == 0 || d.answers >= AnswersNeeded {
		return 0
	}
	return d.last.Add(p.interval()).Sub(p.clock.Now())
}

// Count counts an answer that the owner is gone. It returns how long to wait for the next one, 0 if there were enough,
// and whether this is the first one.
func (p *Patience) Count(key string) (remaining time.Duration, isFirst bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	d := p.doubts[key]
	if d == nil || d.answers == 0 {
		p.doubts[key] = &doubt{since: now, last: now, answers: 1}
		return p.interval(), true
	}
	d.last = now
	d.answers++
	if remaining := d.since.Add(p.after).Sub(now); d.answers < AnswersNeeded || remaining > 0 {
		return max(p.interval()/2, remaining), false
	}
	return 0, false
}

// Record returns the answers so far as text, until there are enough.
func (p *Patience) Record(key string) (record string, enough bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.doubts[key]
	return d.format(), d.answers >= AnswersNeeded
}

// Drop restarts the questions. Until Forget, a record of the earlier answers does not count, since it may not be
// removed yet.
func (p *Patience) Drop(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doubts[key] = &doubt{}
}

// Forget forgets an owner about which no process has a record.
func (p *Patience) Forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.doubts, key)
}

// Begin records that the withdrawal begins, and reports whether it had not begun yet.
func (p *Patience) Begin(key string) (isFirst bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.doubts[key]
	if d == nil || d.withdrawing {
		return false
	}
	d.withdrawing = true
	return true
}

// Hold records whether the withdrawal waits for an operator.
func (p *Patience) Hold(key string, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.doubts[key]; d != nil {
		d.held = held
	}
}

// Counts returns the number of owners in doubt, and the number of those whose withdrawal waits for an operator.
func (p *Patience) Counts() (doubted, held int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.doubts {
		if d.answers > 0 {
			doubted++
		}
		if d.held {
			held++
		}
	}
	return doubted, held
}

func (d *doubt) format() string {
	return fmt.Sprintf("%s %s %d", d.since.UTC().Format(time.RFC3339), d.last.UTC().Format(time.RFC3339), d.answers)
}

func parseDoubt(text string) (*doubt, bool) {
	var since, last string
	d := &doubt{}
	if _, err := fmt.Sscanf(text, "%s %s %d", &since, &last, &d.answers); err != nil {
		return nil, false
	}
	var err error
	if d.since, err = time.Parse(time.RFC3339, since); err != nil {
		return nil, false
	}
	if d.last, err = time.Parse(time.RFC3339, last); err != nil || d.answers < 1 || d.last.Before(d.since) {
		return nil, false
	}
	return d, true
}
