// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"strings"
	"time"

	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// Answer returns what is known of targets together: Answers if one of them does, Lost if all of them are, Pending while one may answer.
// since is when the last one
// was lost, or the first one answered again; zero: neither has been seen.
func (p *Prober) Answer(targets ...Target) (result Answer, since time.Time) {
	if len(targets) == 0 || !p.asks(&targets[0]) {
		return Unknown, time.Time{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, target := range targets {
		var own history
		if r := p.records[target]; r != nil {
			own = r.history
		}
		decides := result == Answers && own.since.Before(since) || result == Lost && own.since.After(since)
		if i == 0 || weights[own.answer] > weights[result] || own.answer == result && decides {
			result, since = own.answer, own.since
		}
	}
	return result, since
}

// AnswersIn reports whether an address of a Workload in a city answers.
func (p *Prober) AnswersIn(workload mcreconcile.Request, city string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for target := range p.wanted[workload] {
		if strings.EqualFold(target.City, city) && p.records[target] != nil && p.records[target].answer == Answers {
			return true
		}
	}
	return false
}

// Lost counts the addresses that are Lost.
func (p *Prober) Lost() (count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.records {
		if r.answer == Lost && !r.ofZone() {
			count++
		}
	}
	return count
}
