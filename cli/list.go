// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// listing holds the flags of list.
type listing struct {
	allNamespaces, watch, waiting bool
	selector                      string
	out                           *command.Output
}

func (c *commands) listCommand() *cobra.Command {
	o := &listing{}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List Workloads: their cities, ready Instances, rollout, and the reason of a fault",
		Long: "List Workloads. REASON is the most specific reason of a Workload and of its deployments;\n" +
			"`explain` shows the cause of one Workload, and who must act.\n\n" +
			"With --waiting, list the Instances that wait for capacity, the longest wait first: without a cell\n" +
			"of their city (NoCapacity, CellsTainted), or without a node of their cell (Unschedulable). NEXT TRY\n" +
			"is when they are scheduled again.",
		Example: c.Examples(`
  # The Workloads of a namespace
  %s list
  # Of all namespaces with a label, with their images, as they change
  %s list -A -l team=web -o wide -w
  # What waits for capacity
  %s list --waiting`),
		Args: cobra.NoArgs,
	}
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the Workloads of all namespaces of the project.")
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "List the Workloads with these labels, such as -l team=web.")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "Print a Workload again after each change, until Ctrl-C.")
	cmd.Flags().BoolVar(&o.waiting, "waiting", false, "List the Instances that wait for capacity, the longest wait first.")
	o.out = command.NewOutput(cmd)
	cmd.RunE = c.Run(func(ctx context.Context, _ []string) error { return c.list(ctx, o) })
	return cmd
}

func (c *commands) list(ctx context.Context, o *listing) error {
	if err := o.check(); err != nil {
		return err
	}
	selector, err := o.labels()
	if err != nil {
		return err
	}
	s, err := c.ConnectToProject()
	if err != nil {
		return err
	}
	if o.allNamespaces {
		s.Namespace = metav1.NamespaceAll
	}
	options := []client.ListOption{client.InNamespace(s.Namespace), client.MatchingLabelsSelector{Selector: selector}}

	if o.waiting {
		return c.listWaiting(ctx, s, o, options)
	}
	found, err := view.ReadOverviews(ctx, s.Project.Client, c.Clock.Now(), options...)
	switch {
	case err != nil:
		return err
	case !o.out.IsText():
		return o.out.Print(c.Data, "WorkloadOverviewList", map[string]any{"items": found})
	case len(found) == 0 && !o.watch:
		_, err := fmt.Fprintln(c.Streams.ErrOut, o.nothing(s))
		return err
	}
	if err := c.printOverviews(o, found, true); err != nil || !o.watch {
		return err
	}
	watched := s.Live("")
	watched.Hub, watched.Selector = nil, selector
	return c.watchOverviews(ctx, o, watched, found)
}

// check rejects flags that exclude each other before the command reads any object.
func (o *listing) check() error {
	switch {
	case o.watch && !o.out.IsText():
		return errors.New("--watch prints a table; use -o wide, or no -o")
	case o.watch && o.waiting:
		return errors.New("--waiting prints the queue once; leave out --watch")
	}
	return o.out.Check()
}

// listWaiting prints what waits for capacity.
func (c *commands) listWaiting(ctx context.Context, s *command.Session, o *listing, options []client.ListOption) error {
	queue, err := view.ReadWaiting(ctx, s.Project.Client, options...)
	switch {
	case err != nil:
		return err
	case !o.out.IsText():
		return o.out.Print(c.Data, "WaitingList", map[string]any{"items": queue})
	case len(queue) == 0:
		_, err := fmt.Fprintln(c.Streams.ErrOut, "No Instance waits for capacity.")
		return err
	}
	rows := view.WaitingTable(queue, c.Clock.Now())
	if !o.allNamespaces {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	for _, line := range terminal.Align(rows) {
		if _, err := fmt.Fprintln(c.Streams.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// labels is the selector of the flags.
func (o *listing) labels() (labels.Selector, error) {
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	return selector, nil
}

// nothing says that the list is empty, as kubectl does.
func (o *listing) nothing(s *command.Session) string {
	if o.allNamespaces {
		return "No resources found"
	}
	return fmt.Sprintf("No resources found in %s namespace.", s.Namespace)
}

// watchOverviews prints what changes, until the user ends it. An outage of the API server is told once.
func (c *commands) watchOverviews(ctx context.Context, o *listing, watched live.Options, before []view.Overview) error {
	w, err := live.Start(ctx, watched, nil)
	if err != nil {
		return err
	}
	options := []client.ListOption{client.InNamespace(watched.Key.Namespace), client.MatchingLabelsSelector{Selector: watched.Selector}}
	for {
		if err := w.Wait(ctx); err != nil {
			return err
		}
		if err := w.TellProblem(c.Streams.ErrOut); err != nil {
			return err
		}
		now, err := view.ReadOverviews(ctx, w.Planes().Project, c.Clock.Now(), options...)
		if err != nil {
			return err
		}
		if err := c.printOverviews(o, changed(before, now), false); err != nil {
			return err
		}
		before = now
	}
}

// changed returns the rows that differ from before.
func changed(before, now []view.Overview) []view.Overview {
	type key struct{ namespace, name string }
	known := make(map[key]*view.Overview, len(before))
	for i := range before {
		known[key{before[i].Namespace, before[i].Name}] = &before[i]
	}
	return slices.DeleteFunc(slices.Clone(now), func(row view.Overview) bool {
		former := known[key{row.Namespace, row.Name}]
		return former != nil && equality.Semantic.DeepEqual(*former, row)
	})
}

// printOverviews prints rows of the table.
func (c *commands) printOverviews(o *listing, found []view.Overview, header bool) error {
	w := printers.GetNewTabWriter(c.Streams.Out)
	columns := []string{"NAME", "CITIES", "READY", "ROLLOUT", "REASON", "AGE"}
	if o.allNamespaces {
		columns = slices.Insert(columns, 0, "NAMESPACE")
	}
	if o.out.IsWide() {
		columns = append(columns, "IMAGES", "ADDRESSES")
	}
	if header {
		if _, err := fmt.Fprintln(w, strings.Join(columns, "\t")); err != nil {
			return err
		}
	}
	for i := range found {
		if err := c.printOverview(w, o, &found[i]); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (c *commands) printOverview(w io.Writer, o *listing, overview *view.Overview) error {
	none := func(text string) string { return cmp.Or(text, "<none>") }
	age := duration.HumanDuration(c.Clock.Now().Sub(overview.Created.Time))
	row := []string{
		overview.Name, none(strings.Join(overview.Cities, ",")), fmt.Sprintf("%d/%d", overview.Ready, overview.Desired),
		none(overview.Rollout), none(overview.Reason), age,
	}
	if o.allNamespaces {
		row = slices.Insert(row, 0, overview.Namespace)
	}
	if o.out.IsWide() {
		row = append(row, none(strings.Join(overview.Images, ",")), none(strings.Join(overview.Addresses, ",")))
	}
	_, err := fmt.Fprintln(w, strings.Join(row, "\t"))
	return err
}
