// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package features_test

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/cucumber/godog"
	"github.com/cucumber/godog/colors"

	"github.com/karmada-compute/karmada-compute/features/steps"
)

var tags = flag.String("godog.tags", "", "run only scenarios with these tags")

// atOnce is how many scenarios run at once, of those that get along with each other. Some of these wait for each other's
// cells.
const atOnce = 5

// TestFeatures runs every scenario: first those that get along with each other, several at once, then those that
// stop and count things that all share. What depends on how Karmada interprets is run in both modes: all with the webhook,
// and with the customization what is about status and dependencies, and what the webhook cannot do.
func TestFeatures(t *testing.T) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	world, err := steps.Start(ctx, os.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Stop(t.Failed()); err != nil {
			t.Error(err)
		}
	})
	runScenarios(ctx, t, world, "~@serial && ~@customization", atOnce)
	runScenarios(ctx, t, world, "@serial && ~@customization", 1)
	if err := world.Interpret(ctx, steps.ModeCustomization); err != nil {
		t.Fatal(err)
	}
	runScenarios(ctx, t, world, "~@serial && @status,@dependency,@customization", atOnce)
	runScenarios(ctx, t, world, "@serial && @status,@dependency,@customization", 1)
}

func runScenarios(ctx context.Context, t *testing.T, world *steps.World, selection string, concurrency int) {
	t.Helper()
	if *tags != "" {
		selection += " && " + *tags
	}
	suite := godog.TestSuite{
		Name:                "features",
		ScenarioInitializer: world.AddStepsTo,
		Options: &godog.Options{
			Format: "progress", Output: colors.Uncolored(os.Stdout), Paths: []string{"."}, Tags: selection,
			Strict: true, Randomize: -1, Concurrency: concurrency, DefaultContext: ctx,
		},
	}
	if suite.Run() != 0 {
		t.Errorf("scenarios %q failed", selection)
	}
}
