// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

func (c *commands) rolloutHistoryCommand() *cobra.Command {
	var out *command.Output
	var shown int64
	const short = "List the templates that a Workload has had, when, and what changed"
	cmd := c.ofWorkload("history", short, func(ctx context.Context, name string) error {
		if err := out.Check(); err != nil {
			return err
		}
		s, workload, err := c.withProject(ctx, name)
		if err != nil {
			return err
		}
		history, err := view.ReadRevisions(ctx, s.Project.Client, workload)
		if err != nil {
			return err
		}
		past, err := view.PastTemplates(history)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(past, func(p view.PastTemplate) bool { return p.Revision == shown })
		switch {
		case shown == 0:
			return c.printHistory(name, past, out)
		case at < 0:
			return fmt.Errorf("unable to find the specified revision %d in the history of workload %s", shown, name)
		case out.IsText():
			return c.printRevision(name, &history[at])
		}
		return c.printHistory(name, past[at:at+1], out)
	})
	cmd.Flags().Int64Var(&shown, "revision", 0, "Show the template of this revision.")
	c.CompleteFlag(cmd, "revision", command.Revisions)
	out = command.NewOutput(cmd)
	return cmd
}

func (c *commands) printHistory(name string, past []view.PastTemplate, out *command.Output) error {
	if !out.IsText() {
		return out.Print(c.Data, "RolloutHistory", map[string]any{"workload": name, "revisions": past})
	}
	rows := [][]string{{"REVISION", "AGE", "IMAGES", "CHANGE-CAUSE"}}
	for i := range past {
		rows = append(rows, []string{
			fmt.Sprint(past[i].Revision), duration.HumanDuration(c.Clock.Now().Sub(past[i].Created.Time)), past[i].Images, past[i].Cause,
		})
	}
	_, err := fmt.Fprintf(c.Streams.Out, "workload.compute.datumapis.com/%s\n%s\n", name, strings.Join(terminal.Align(rows), "\n"))
	return err
}

func (c *commands) printRevision(name string, revision *v1alpha.WorkloadRevision) error {
	template, err := yaml.Marshal(revision.Spec.Template)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Streams.Out, "workload.compute.datumapis.com/%s with revision #%d\n%s", name, revision.Spec.Revision, template)
	return err
}
