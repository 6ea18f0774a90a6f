// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"fmt"
	"time"

	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const (
	// hubPace is the least time between two reads of the hub by the page, and hubShare how much longer than a read the
	// pause after it is: a large hub is read less often.
	hubPace  = 10 * time.Second
	hubShare = 10
	// hubTimeout bounds one read.
	hubTimeout = time.Minute
)

// begin starts to read the project, and for operators the hub. Without --milo-kubeconfig an operator reaches no
// project.
func (b *board) begin(ctx context.Context, namespace string) {
	b.federationAlone = b.Operator && b.MiloKubeconfig == ""
	if b.Operator {
		go b.runFederation(ctx, namespace)
	}
	if !b.federationAlone {
		go b.run(ctx)
	}
}

// runFederation reads the hub until ctx ends, for the operator's page.
func (b *board) runFederation(ctx context.Context, namespace string) {
	for ctx.Err() == nil {
		began := time.Now()
		found, err := b.readFederation(ctx, namespace)
		if ctx.Err() != nil {
			return
		}
		pause := max(hubPace, hubShare*time.Since(began))
		if err == nil {
			found.Late = found.Read.Add(pause + hubTimeout)
		}
		b.publishFederation(found, err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// readFederation reads what `karmadactl compute status` reads, with the kubeconfig as it is now.
func (b *board) readFederation(ctx context.Context, namespace string) (*page.Federation, error) {
	ctx, cancel := context.WithTimeout(ctx, hubTimeout)
	defer cancel()
	s, err := b.Reconnect()
	if err != nil {
		return nil, err
	}
	objects, refused, err := view.ReadHub(ctx, s.Hub.Client, namespace)
	if err != nil {
		return nil, fmt.Errorf("read the hub: %w", err)
	}
	now := b.Clock.Now()
	found := view.Summarize(objects, now)
	return page.FederationOf(found, warningsOf(found, now), refused, now), nil
}

// warningsOf returns the warnings of `karmadactl compute status`.
func warningsOf(f *view.Federation, now time.Time) []string {
	var result []string
	if len(f.BroadBindings) > 0 {
		result = append(result, reasons.Clean(reasons.AboutBroadBindings(f.BroadBindings)))
	}
	for i := range f.Evictions {
		for _, warning := range f.Evictions[i].Warnings(now) {
			result = append(result, reasons.Clean(warning))
		}
	}
	return result
}

// publishFederation keeps what was read last. After an error that stays, with the error.
func (b *board) publishFederation(found *page.Federation, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		last := page.Federation{}
		if b.federation != nil {
			last = *b.federation
		}
		problem := problemOf(err, b.Clock.Now())
		if last.Problem != nil {
			problem.Since = last.Problem.Since
		}
		last.Problem = problem
		found = &last
	}
	b.federation = found
	b.wake()
}

// withFederation returns a state with the hub. The caller holds the lock.
func (b *board) withFederation(state *page.State) *page.State {
	if b.federation == nil {
		return state
	}
	whole := *state
	whole.Federation, whole.Loaded = b.federation, true
	if b.federationAlone && whole.Problem == nil {
		whole.Problem = b.federation.Problem
	}
	return &whole
}
