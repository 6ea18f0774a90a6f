// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

func (c *commands) statusCommand() *cobra.Command {
	var (
		namespace string
		out       *command.Output
	)
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the replicas, cells and cities of the add-on, and the repairs of its audit",
		Long: "Show the state of the add-on as the hub has it: its replicas and their projects, the cells with their agents " +
			"and how far their reports are\n" +
			"behind, the cities, and the objects for which the audit has triggered a Karmada reconcile. A warning names " +
			"RoleBindings in projects that give\n" +
			"rights to Karmada's kinds.\n\n" +
			"It exits with 0 when replicas run, all cells and agents are ready and external-dns reads the DNSEndpoints, with 2 when not, and " +
			"with 1 when it fails.",
		Example:           "  karmadactl compute status",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringVar(&namespace, "system-namespace", "karmada-system", "The namespace of the add-on's Leases on the hub.")
	out = command.NewOutput(cmd)
	cmd.RunE = c.Run(func(ctx context.Context, _ []string) error {
		if err := out.Check(); err != nil {
			return err
		}
		s, err := c.Connect()
		if err != nil {
			return err
		}
		objects, refused, err := view.ReadHub(ctx, s.Hub.Client, namespace)
		if err != nil {
			return err
		}
		federation := view.Summarize(objects, c.Clock.Now())
		if out.IsText() {
			err = c.printStatus(federation, refused)
		} else {
			err = out.Print(c.Data, "FederationStatus", federation)
		}
		if err == nil && !federation.Well() {
			return command.ErrNotReady
		}
		return err
	})
	return cmd
}

// mostRepaired is the number of repaired objects in the text output.
const mostRepaired = 10

func (c *commands) printStatus(f *view.Federation, refused []string) error {
	now := c.Clock.Now()
	ago := func(at metav1.Time) string { return duration.HumanDuration(now.Sub(at.Time)) }
	var lines []string
	for _, fault := range f.Faults {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", fault.Subject, fault.Reason, reasons.Clean(fault.Message)), "  -> "+fault.Do, "")
	}
	rows := [][]string{{"REPLICA", "RUNNING", "RENEWED", "SHARDS", "PROJECTS"}}
	for _, r := range f.Replicas {
		rows = append(rows, []string{r.Name, yes(r.Running), ago(r.Renewed), strconv.Itoa(r.Shards), strconv.Itoa(len(r.Projects))})
	}
	lines = append(append(lines, terminal.Align(rows)...), "")
	rows = [][]string{{"CELL", "CITY", "READY", "AGENT", "DEPLOYMENTS", "BEHIND"}}
	for _, cell := range f.Cells {
		rows = append(rows, []string{
			cell.Name, cell.City, yes(cell.Ready), cell.Agent, strconv.Itoa(cell.Deployments), strconv.Itoa(cell.Behind),
		})
	}
	lines = append(append(lines, terminal.Align(rows)...), "")
	rows = [][]string{{"CITY", "CELLS READY", "DEPLOYMENTS", "INSTANCES READY"}}
	for _, city := range f.Cities {
		rows = append(rows, []string{
			city.Name, fmt.Sprintf("%d/%d", city.ReadyCells, city.Cells), strconv.Itoa(city.Deployments),
			fmt.Sprintf("%d/%d", city.Ready, city.Desired),
		})
	}
	lines = append(lines, terminal.Align(rows)...)
	if len(f.Repaired) > 0 {
		rows = [][]string{{"REPAIRED", "NAMESPACE", "NAME", "AGO"}}
		for _, m := range f.Repaired[:min(mostRepaired, len(f.Repaired))] {
			rows = append(rows, []string{m.Kind, m.Namespace, m.Name, ago(m.At)})
		}
		lines = append(append(lines, ""), terminal.Align(rows)...)
		if more := len(f.Repaired) - mostRepaired; more > 0 {
			lines = append(lines, fmt.Sprintf("and %d more", more))
		}
	}
	if len(f.BroadBindings) > 0 {
		lines = append(lines, "", "warning: "+reasons.Clean(reasons.AboutBroadBindings(f.BroadBindings)))
	}
	for _, warning := range f.Warnings {
		lines = append(lines, "", "warning: "+reasons.Clean(warning))
	}
	for i := range f.Evictions {
		lines = append(lines, "")
		for _, warning := range f.Evictions[i].Warnings(now) {
			lines = append(lines, reasons.Clean(warning))
		}
	}
	if _, err := fmt.Fprintln(c.Streams.Out, strings.Join(lines, "\n")); err != nil {
		return err
	}
	if len(refused) > 0 {
		_, err := fmt.Fprintf(c.Streams.ErrOut, "left out, since you may not read it: %s\n", strings.Join(refused, ", "))
		return err
	}
	return nil
}

func yes(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
