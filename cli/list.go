// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/get"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// listing holds the arguments and flags of list.
type listing struct {
	names                                    []string
	allNamespaces, watch, waiting, noHeaders bool
	selector, sortBy                         string
	out                                      *command.Output
	// table prints the rows. It prints their header once.
	table printers.ResourcePrinter
}

func (c *commands) listCommand() *cobra.Command {
	o := &listing{}
	cmd := &cobra.Command{
		Use:        "list [WORKLOAD...]",
		Aliases:    []string{"ls"},
		SuggestFor: []string{"get", "ps"},
		Short:      "List Workloads: their cities, ready Instances, rollout, and the reason of a fault",
		Long: "List Workloads. REASON is the most specific reason of a Workload and of its deployments;\n" +
			"`explain` shows the cause of one Workload, and who must act.\n\n" +
			"With --waiting, list the Instances that wait for capacity, the longest wait first: without a cell\n" +
			"of their city (NoCapacity, CellsTainted), or without a node of their cell (Unschedulable). NEXT TRY\n" +
			"is when they are scheduled again.",
		Example: c.Examples(`
  # The Workloads of a namespace
  %s list
  # Two of them, and all of them by age, for a script
  %s list web shop
  %s list --sort-by=.metadata.creationTimestamp -o name
  # Of all namespaces with a label, with their images, as they change
  %s list -A -l team=web -o wide -w
  # What waits for capacity
  %s list --waiting`),
		ValidArgsFunction: c.Complete(command.Workloads),
	}
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the Workloads of all namespaces of the project.")
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "List the Workloads with these labels, such as -l team=web.")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "Print a Workload again after each change, until Ctrl-C.")
	cmd.Flags().BoolVar(&o.waiting, "waiting", false, "List the Instances that wait for capacity, the longest wait first.")
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Print no header.")
	cmd.Flags().StringVar(&o.sortBy, "sort-by", "",
		"Sort the Workloads by this field of theirs, a JSONPath such as .metadata.creationTimestamp or .status.readyReplicas.")
	o.out = command.NewNamesOutput(cmd)
	cmd.RunE = c.Run(func(ctx context.Context, args []string) error {
		for _, argument := range args {
			o.names = append(o.names, command.Bare(argument))
		}
		return c.list(ctx, o)
	})
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
	s, err := c.ConnectToProject(ctx)
	if err != nil {
		return err
	}
	if o.allNamespaces {
		s.Namespace = metav1.NamespaceAll
	}
	options := []client.ListOption{client.InNamespace(s.Namespace), client.MatchingLabelsSelector{Selector: selector}}
	o.table = printers.NewTablePrinter(printers.PrintOptions{NoHeaders: o.noHeaders, Wide: o.out.IsWide()})

	if o.waiting {
		return c.listWaiting(ctx, s, o, options)
	}
	found, err := o.read(ctx, s.Project.Client, c, options)
	if err == nil {
		err = o.findAll(s.Namespace, found)
	}
	switch {
	case err != nil:
		return err
	case !o.out.IsText():
		return o.out.Print(c.Data, "WorkloadOverviewList", &view.Overviews{Items: found})
	case len(found) == 0 && !o.watch:
		_, err := fmt.Fprintln(c.Streams.ErrOut, o.nothing(s))
		return err
	}
	if err := c.printOverviews(o, found); err != nil || !o.watch {
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
	case o.waiting && o.out.IsName():
		return errors.New("--waiting lists no objects; leave out -o name")
	case o.waiting && o.sortBy != "":
		return errors.New("--waiting sorts by the time of the wait; leave out --sort-by")
	case o.allNamespaces && len(o.names) > 0:
		return errors.New("a name is in one namespace; leave out --all-namespaces, or the names")
	}
	return o.out.Check()
}

// read reads the Workloads that the names and the options select, in the order of --sort-by.
func (o *listing) read(ctx context.Context, reader client.Reader, c *commands, options []client.ListOption) ([]view.Overview, error) {
	found, err := view.Ordering(o.order).ReadOverviews(ctx, reader, c.Clock.Now(), options...)
	if len(o.names) > 0 {
		found = slices.DeleteFunc(found, func(row view.Overview) bool { return !slices.Contains(o.names, row.Name) })
	}
	return found, err
}

// order sorts Workloads as kubectl get does.
func (o *listing) order(workloads []v1alpha.Workload) error {
	if o.sortBy == "" || len(workloads) == 0 {
		return nil
	}
	objects := make([]runtime.Object, 0, len(workloads))
	for i := range workloads {
		objects = append(objects, workloads[i].DeepCopy())
	}
	if _, err := get.SortObjects(nil, objects, o.sortBy); err != nil {
		return fmt.Errorf("--sort-by: %w", err)
	}
	for i := range objects {
		workloads[i] = *objects[i].(*v1alpha.Workload) //nolint:forcetypeassert // they are the Workloads
	}
	return nil
}

// findAll returns an error about the first name that no Workload has.
func (o *listing) findAll(namespace string, found []view.Overview) error {
	for _, name := range o.names {
		if !slices.ContainsFunc(found, func(row view.Overview) bool { return row.Name == name }) {
			return &view.NotFoundError{Namespace: namespace, Name: name}
		}
	}
	return nil
}

// listWaiting prints what waits for capacity.
func (c *commands) listWaiting(ctx context.Context, s *command.Session, o *listing, options []client.ListOption) error {
	queue, err := view.ReadWaiting(ctx, s.Project.Client, options...)
	if len(o.names) > 0 {
		queue = slices.DeleteFunc(queue, func(w view.Waiting) bool { return !slices.Contains(o.names, w.Workload) })
	}
	switch {
	case err != nil:
		return err
	case !o.out.IsText():
		return o.out.Print(c.Data, "WaitingList", map[string]any{"items": queue})
	case len(queue) == 0:
		_, err := fmt.Fprintln(c.Streams.ErrOut, "No Instance waits for capacity.")
		return err
	}
	return c.printRows(o, view.WaitingTable(queue, c.Clock.Now()), 0)
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
		now, err := o.read(ctx, w.Planes().Project, c, options)
		if err != nil {
			return err
		}
		if err := c.printOverviews(o, changed(before, now)); err != nil {
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
		return row.Equals(former)
	})
}

// printOverviews prints rows of the table.
func (c *commands) printOverviews(o *listing, found []view.Overview) error {
	none := func(text string) string { return cmp.Or(text, "<none>") }
	rows := [][]string{{"NAMESPACE", "NAME", "CITIES", "READY", "ROLLOUT", "REASON", "AGE", "IMAGES", "ADDRESSES"}}
	for i := range found {
		row := &found[i]
		rows = append(rows, []string{
			row.Namespace, row.Name, none(strings.Join(row.Cities, ",")), fmt.Sprintf("%d/%d", row.Ready, row.Desired),
			none(row.Rollout), none(row.Reason), duration.HumanDuration(c.Clock.Now().Sub(row.Created.Time)),
			none(strings.Join(row.Images, ",")), none(strings.Join(row.Addresses, ",")),
		})
	}
	return c.printRows(o, rows, 2)
}

// printRows prints rows below a header, as kubectl get does. The first column is the namespace, and the last ones are for -o wide.
func (c *commands) printRows(o *listing, rows [][]string, wide int) error {
	table, first := &metav1.Table{}, 1
	if o.allNamespaces {
		first = 0
	}
	for i, title := range rows[0][first:] {
		column := metav1.TableColumnDefinition{Name: title, Type: "string"}
		if i+first >= len(rows[0])-wide {
			column.Priority = 1
		}
		table.ColumnDefinitions = append(table.ColumnDefinitions, column)
	}
	for _, row := range rows[1:] {
		cells := make([]any, 0, len(row))
		for _, cell := range row[first:] {
			cells = append(cells, cell)
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
	}
	return o.table.PrintObj(table, c.Streams.Out)
}
