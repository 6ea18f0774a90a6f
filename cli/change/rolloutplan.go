// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

func (c *commands) rolloutPlanCommand() *cobra.Command {
	var out *command.Output
	cmd := &cobra.Command{
		Use:   "plan WORKLOAD",
		Short: "Show the next steps of the rollout, and why other cities wait",
		Long: "Show the steps that the hub would take next, and for each other city the reason why it takes none. The planner\n" +
			"of the hub plans from the objects that you may read; the end of the output lists what they do not show.",
		Example: c.Examples(`
  # What does the rollout of Workload web wait for?
  %s rollout plan web
  # In a script
  %s rollout plan web -o jsonpath='{.cities[*].reason}'`),
		Args:              command.OneArg("the name of a Workload"),
		ValidArgsFunction: c.CompleteWorkloads(),
	}
	out = command.NewOutput(cmd)
	cmd.RunE = c.Run(func(ctx context.Context, args []string) error {
		if err := out.Check(); err != nil {
			return err
		}
		plan, err := c.planRollout(ctx, args[0])
		if err != nil {
			return err
		}
		if out.IsText() {
			return c.printPlan(plan)
		}
		return out.Print(c.Data, "RolloutPlan", plan)
	})
	return cmd
}

func (c *commands) planRollout(ctx context.Context, name string) (*view.Rollout, error) {
	s, err := c.ConnectToProject(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := view.Read(ctx, view.Planes{Project: s.Project.Client, ProjectName: s.ProjectName}, s.Key(name))
	if err != nil {
		return nil, err
	}
	if err := snapshot.MustExist(); err != nil {
		return nil, err
	}
	snapshot.Now = c.Clock.Now()
	locations, unread := view.ReadLocations(ctx, s.Project.Client)
	return snapshot.Rollout(locations, unread)
}

func (c *commands) printPlan(plan *view.Rollout) error {
	title := "workload.compute.datumapis.com/" + plan.Workload + ": " + plan.Phase
	if plan.Message != "" {
		title += ": " + plan.Message
	}
	lines := append([]string{title, ""}, terminal.Align(plan.Table())...)
	for i, unknown := range plan.Unknown {
		if i == 0 {
			lines = append(lines, "")
		}
		lines = append(lines, "unknown: "+unknown)
	}
	_, err := fmt.Fprintln(c.Streams.Out, strings.Join(lines, "\n"))
	return err
}
