// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

func (c *command) treeCommand() *cobra.Command {
	var watch, all bool
	cmd := &cobra.Command{
		Use:   "tree [WORKLOAD]",
		Short: "Show a Workload, its deployments and Instances, and their faults; without a name list the Workloads",
		Example: c.examples(`
  # What there is of Workload web
  %s tree web
  # Follow it as it changes
  %s tree web -w`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.completeWorkloads,
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "Show the tree again after each change, until Ctrl-C.")
	cmd.Flags().BoolVar(&all, "all", false, "Show each Instance. Otherwise, of more than 10 in a city or cell, equal neighbours share a line.")
	out := newNamesOutput(cmd)
	one := c.onWorkload(out, func(ctx context.Context, s *session, snapshot *view.Snapshot) error {
		if watch {
			return c.follow(ctx, s, snapshot, following{out, all})
		}
		return c.printTree(snapshot, out, all)
	})
	listed := c.run(func(ctx context.Context, _ []string) error { return c.list(ctx, &listing{watch: watch, out: out}) })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return listed(cmd, args)
		}
		return one(cmd, args)
	}
	return cmd
}

func (c *command) printTree(s *view.Snapshot, out *output, all bool) error {
	if !out.isText() {
		return out.print(c.data, "WorkloadTree", s.Tree())
	}
	layout := view.Layout{Wide: out.isWide(), All: all}
	if size := terminal.SizeOf(c.raw.Out); size != nil && !layout.Wide {
		layout.Columns, _ = size()
	}
	if _, err := fmt.Fprintln(c.Streams.Out, strings.Join(s.Tree().Lines(layout), "\n")); err != nil {
		return err
	}
	return c.tellHidden(s)
}

// tellHidden lists the kinds that are left out, on the error stream.
func (c *command) tellHidden(s *view.Snapshot) error {
	if hidden := s.HiddenKinds(); len(hidden) > 0 {
		_, err := fmt.Fprintf(c.Streams.ErrOut, "left out, since you may not read it: %s\n", strings.Join(hidden, ", "))
		return err
	}
	return nil
}

// following holds the flags of tree --watch.
type following struct {
	out *output
	all bool
}

// follow shows the tree until the user ends it. In a format for programs each state is an object.
func (c *command) follow(ctx context.Context, s *session, first *view.Snapshot, o following) error {
	out := o.out
	if err := errors.Join(c.tellHidden(first), c.tellSuspension(first)); err != nil {
		return err
	}
	w, err := c.watchWorkload(ctx, s, first, o.all)
	if err != nil {
		return err
	}
	if out.isText() {
		screen := terminal.New(terminal.Options{Out: c.painter, Size: terminal.SizeOf(c.raw.Out), Now: c.Clock.Now})
		return w.Follow(ctx, screen, out.isWide())
	}
	var before *view.Node
	return w.Each(ctx, func(s *view.Snapshot) (bool, error) {
		tree := s.Tree()
		if equality.Semantic.DeepEqual(before, tree) {
			return false, nil
		}
		before = tree
		return s.Gone(), out.print(c.data, "WorkloadTree", tree)
	})
}

func (c *command) watchWorkload(ctx context.Context, s *session, first *view.Snapshot, all bool) (*live.Watch, error) {
	o := s.live(first.Name)
	o.All = all
	return live.Start(ctx, o, first.Hidden)
}

// examples inserts the name of the command into examples.
func (c *command) examples(text string) string {
	name := "karmadactl compute --project north"
	if !c.Operator {
		name = "kubectl compute"
	}
	return strings.Trim(strings.ReplaceAll(text, "%s", name), "\n")
}

// oneArg reports a missing argument, as kubectl does.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes %s, and got %d arguments\nSee '%s -h' for help and examples", cmd.Name(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}
