// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"errors"
	"fmt"

	"github.com/cucumber/godog"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// addVersionSteps adds the sentences about an upgrade and a rollback, of the add-on and of Karmada.
func addVersionSteps(sc world.Sentences) {
	sc.Step(`^the hub runs Karmada (\d+\.\d+|of this repository), in the (documented|reversed) order$`,
		func(ctx context.Context, version, order string) error {
			return from(ctx).useKarmada(ctx, version, federation.KarmadaOrder(order))
		})
	sc.Step(`^the previous version is built$`, func(ctx context.Context) error {
		return from(ctx).buildEarlier(ctx)
	})
	sc.Step(`^the add-on runs (this version|the previous version)$`, func(ctx context.Context, version string) error {
		return from(ctx).useVersion(ctx, version != "this version")
	})
}

// buildEarlier builds the previous version. If the clone does not have it, the scenario is skipped with a message.
func (s Steps) buildEarlier(ctx context.Context) error {
	err := s.Federation.BuildEarlier(ctx, s.Earlier)
	if errors.Is(err, tools.ErrNoRevision) {
		fmt.Fprintf(s.Out, "skipped: %v\n", err)
		return godog.ErrSkip
	}
	return err
}

// useVersion enables the add-on with karmadactl of a version.
func (s Steps) useVersion(ctx context.Context, earlier bool) error {
	const thing = "the version"
	use := func(ctx context.Context, earlier bool) error {
		return s.AddOn.Configure(ctx, func(o *federation.AddOnOptions) { o.Earlier = earlier })
	}
	s.CommandsRun.Store(true)
	s.Disturbed.Add(thing, func(ctx context.Context) error { return use(ctx, false) })
	err := use(ctx, earlier)
	if err == nil && !earlier {
		s.Disturbed.Forget(thing)
	}
	return err
}

// useKarmada replaces Karmada on the hub by another version, or by the one of this repository.
func (s Steps) useKarmada(ctx context.Context, version string, order federation.KarmadaOrder) error {
	const thing = "the version of Karmada"
	if version == "of this repository" {
		err := s.Federation.UseKarmada(ctx, "", order)
		if err == nil {
			s.Disturbed.Forget(thing)
		}
		return err
	}
	s.Disturbed.Add(thing, func(ctx context.Context) error { return s.Federation.UseKarmada(ctx, "", federation.KarmadaDocumented) })
	return s.Federation.UseKarmada(ctx, version, order)
}
