// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"

	"github.com/cucumber/godog"

	"github.com/karmada-compute/karmada-compute/federation"
)

// addVersionSteps are the sentences about an upgrade and the way back.
func addVersionSteps(sc sentences) {
	sc.Step(`^the version before this one is built$`, func(ctx context.Context) error {
		return from(ctx).buildEarlier(ctx)
	})
	sc.Step(`^the add-on is of (this version|the version before)$`, func(ctx context.Context, version string) error {
		return from(ctx).useVersion(ctx, version != "this version")
	})
}

// buildEarlier builds the version before this one. Where there is none, the scenario is skipped and says so.
func (s *scenario) buildEarlier(ctx context.Context) error {
	revision := s.Earlier
	if revision == "" {
		var err error
		if revision, err = s.federation.EarlierVersion(ctx); errors.Is(err, federation.ErrNoEarlier) {
			fmt.Fprintf(s.out, "skipped: %v\n", err)
			return godog.ErrSkip
		} else if err != nil {
			return err
		}
	}
	return s.federation.BuildEarlier(ctx, revision)
}

// useVersion enables the add-on with karmadactl of a version, and waits until every cell has its agent.
func (s *scenario) useVersion(ctx context.Context, earlier bool) error {
	use := func(ctx context.Context, earlier bool) error {
		return s.addOn.Configure(ctx, func(o *federation.AddOnOptions) { o.Earlier = earlier })
	}
	s.commandsRun.Store(true)
	s.disturbed.add("the version", func(ctx context.Context) error { return use(ctx, false) })
	return use(ctx, earlier)
}
