// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package features_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/karmada-compute/karmada-compute/test/steps"
	"github.com/karmada-compute/karmada-compute/test/steps/rights"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

var (
	tags    = flag.String("godog.tags", "", "run only scenarios with these tags")
	repeat  = flag.Int("repeat", 1, "run every scenario so many times")
	earlier = flag.String("earlier", "", "the revision of this repository that upgrades begin with (default: the version before this one)")
	karmada = flag.String("karmada-version", "",
		"the minor version of Karmada, such as 1.17, or the absolute path of a checkout of Karmada (default: the version in go.mod)")
	cells = flag.String("cell-kubernetes-version", "",
		"the minor version of Kubernetes in the cells, such as 1.26 (default: the version in go.mod)")
)

// paths are the scenarios, first the ones that wait for each other's cells.
var paths = []string{folder + "/several_cells.feature", folder + "/pull_mode.feature", folder}

// folder has the scenarios.
const folder = "../../features"

// atOnce is how many independent scenarios run at once.
const atOnce = 5

// inBothModes selects the scenarios that depend on how Karmada interprets. All scenarios run with the webhook, these
// with the customization, too, and some with the customization alone.
const inBothModes = " && @status,@dependency,@customization"

// part is a set of scenarios that run together, in one mode.
type part struct {
	world.Selection
	mode string
}

// run is a federation.
type run struct {
	name   string
	report *world.Report
	world  *world.World
	mode   string
}

var (
	together = part{
		world.Selection{
			Steps: steps.Register, Name: "webhook", Tags: "~@serial && ~@customization && ~@namespaces", AtOnce: atOnce,
		}, world.ModeWebhook,
	}
	faults     = part{world.Selection{Steps: steps.Register, Name: "faults", Tags: "@serial && @faults", AtOnce: 1}, world.ModeWebhook}
	customized = part{
		world.Selection{Steps: steps.Register, Name: "customization", Tags: "~@serial" + inBothModes, AtOnce: atOnce}, world.ModeCustomization,
	}
	withoutMilo = part{
		world.Selection{Steps: steps.Register, Name: "without Milo", Tags: "@namespaces && ~@serial", AtOnce: atOnce}, world.ModeNamespaces,
	}
	installed = part{
		world.Selection{Steps: steps.Register, Name: "without Milo, one by one", Tags: "@namespaces && @serial", AtOnce: 1}, world.ModeNamespaces,
	}
	oneByOne = part{
		world.Selection{Steps: steps.Register, Name: "one by one", Tags: "@serial && ~@faults && ~@namespaces", AtOnce: 1}, world.ModeWebhook,
	}
)

// TestFeatures runs every scenario. Federation A runs the independent scenarios, several at once, which keep the CPUs
// busy. Then it runs the scenarios that stop, count or measure shared objects (@serial), one after the other: most of
// their time they wait, and so federation C runs beside them. It has no Milo (@namespaces), since a hub has one kind of
// projects. A federation at rest takes a third of a CPU: a second one from the beginning would slow down all.
func TestFeatures(t *testing.T) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := steps.Check(paths); err != nil {
		t.Fatal(err)
	}
	report := world.NewReport(os.Stdout)
	defer report.Summary()
	a, c := &run{name: "A", report: report}, &run{name: "C", report: report}
	err := a.run(ctx, together)
	if err != nil {
		t.Fatal(errors.Join(err, a.end(ctx)))
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return errors.Join(a.run(groupCtx, oneByOne, faults, customized), a.end(ctx)) })
	group.Go(func() error { return errors.Join(c.run(groupCtx, withoutMilo, installed), c.end(ctx)) })
	if err := errors.Join(group.Wait(), report.Failed(), ctx.Err()); err != nil {
		t.Error(err)
	}
}

// run runs the parts on the federation, which starts with the first selected scenario.
func (r *run) run(ctx context.Context, parts ...part) error {
	for _, part := range parts {
		selection := part.Selection
		if *tags != "" {
			selection.Tags += " && " + *tags
		}
		selection.Paths, selection.Repeat = paths, *repeat
		wanted, err := selection.Any()
		if err != nil {
			return err
		}
		if !wanted {
			continue
		}
		if r.world == nil {
			if r.world, err = world.Start(ctx, r.report, world.Setting{
				Name: r.name, Mode: part.mode, Karmada: *karmada, CellKubernetes: *cells,
			}); err != nil {
				return err
			}
			r.mode, r.world.Earlier = part.mode, *earlier
		}
		if part.mode != r.mode {
			if err := r.world.Interpret(ctx, part.mode); err != nil {
				return err
			}
			r.mode = part.mode
		}
		r.world.Run(ctx, selection)
	}
	return nil
}

// end stops the federation, so that it takes nothing from the other one.
func (r *run) end(ctx context.Context) error {
	if r.world == nil {
		return nil
	}
	var unused error
	if *tags == "" && ctx.Err() == nil && r.mode != world.ModeNamespaces {
		unused = rights.CheckRights(ctx, r.world)
	}
	return errors.Join(unused, r.world.Stop())
}
