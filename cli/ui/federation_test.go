// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/page"
)

// TestFederationKeepsTheLast: after an error the page has the last read with the error, and the error's first time.
func TestFederationKeepsTheLast(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 1, 0, 0, time.UTC)
	b := newBoard(&command.Command{Options: command.Options{Clock: clocktesting.NewFakePassiveClock(now)}}, "")
	b.publishFederation(&page.Federation{Read: now.Add(-time.Minute), Well: true}, nil)
	b.publishFederation(nil, command.ErrNotServed)
	first := b.federation.Problem
	b.publishFederation(nil, command.ErrNotServed)
	if got := b.federation; got.Read != now.Add(-time.Minute) || !got.Well || got.Problem == nil || got.Problem.Since != first.Since {
		t.Errorf("got %+v", got)
	}
	b.publishFederation(&page.Federation{Read: now}, nil)
	if b.federation.Problem != nil {
		t.Errorf("the problem stays: %+v", b.federation.Problem)
	}
}
