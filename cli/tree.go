// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

func (c *commands) treeCommand() *cobra.Command {
	var watch, all bool
	cmd := &cobra.Command{
		Use:   "tree [WORKLOAD]",
		Short: "Show a Workload, its deployments and Instances, and their faults; without a name list the Workloads",
		Example: c.Examples(`
  # What there is of Workload web
  %s tree web
  # Follow it as it changes
  %s tree web -w`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.CompleteWorkloads(),
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "Show the tree again after each change, until Ctrl-C.")
	cmd.Flags().BoolVar(&all, "all", false, "Show each Instance. Otherwise, of more than 10 in a city or cell, equal neighbours share a line.")
	out := command.NewNamesOutput(cmd)
	shown := c.OnWorkload(out, func(ctx context.Context, s *command.Session, snapshot *view.Snapshot) error {
		if watch {
			return c.follow(ctx, s, snapshot, following{out, all})
		}
		return c.printTree(snapshot, out, all)
	})
	listed := c.Run(func(ctx context.Context, _ []string) error { return c.list(ctx, &listing{watch: watch, out: out}) })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return listed(cmd, args)
		}
		return shown(cmd, args)
	}
	return cmd
}

func (c *commands) printTree(s *view.Snapshot, out *command.Output, all bool) error {
	if !out.IsText() {
		return out.Print(c.Data, "WorkloadTree", s.Tree())
	}
	layout := view.Layout{Wide: out.IsWide(), All: all}
	if size := terminal.SizeOf(c.Raw.Out); size != nil && !layout.Wide {
		layout.Columns, _ = size()
	}
	if _, err := fmt.Fprintln(c.Streams.Out, strings.Join(s.Tree().Lines(layout), "\n")); err != nil {
		return err
	}
	return c.TellHidden(s)
}

// following holds the flags of tree --watch.
type following struct {
	out *command.Output
	all bool
}

// follow shows the tree until the user ends it. In a format for programs each state is an object.
func (c *commands) follow(ctx context.Context, s *command.Session, first *view.Snapshot, o following) error {
	out := o.out
	if err := errors.Join(c.TellHidden(first), c.tellSuspension(first)); err != nil {
		return err
	}
	w, err := s.Watch(ctx, first, o.all)
	if err != nil {
		return err
	}
	if out.IsText() {
		screen := terminal.New(terminal.Options{Out: c.Painter, Size: terminal.SizeOf(c.Raw.Out), Now: c.Clock.Now})
		return w.Follow(ctx, screen, out.IsWide())
	}
	var before *view.Node
	return w.Each(ctx, func(s *view.Snapshot) (bool, error) {
		tree := s.Tree()
		if tree.Equals(before) {
			return false, nil
		}
		before = tree
		return s.Gone(), out.Print(c.Data, "WorkloadTree", tree)
	})
}

// tellSuspension prints that the project is suspended next to a followed tree: the tree shows the objects unchanged.
func (c *commands) tellSuspension(s *view.Snapshot) error {
	if s.Workload == nil {
		return nil
	}
	found := meta.FindStatusCondition(s.Workload.Status.Conditions, v1alpha.ConditionAvailable)
	if found == nil || found.Status != metav1.ConditionUnknown || found.Reason != v1alpha.ReasonProjectSuspended {
		return nil
	}
	_, err := fmt.Fprintln(c.Streams.ErrOut, reasons.Clean(found.Message))
	return err
}
