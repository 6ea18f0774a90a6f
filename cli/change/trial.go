// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Values of --dry-run, as in kubectl.
const (
	tryNone   = "none"
	tryServer = "server"
	tryClient = "client"
)

// trial holds the flags of commands that change something: whether the change is only tried, and shown.
type trial struct {
	dryRun string
	diff   bool
}

// tried adds --dry-run to a command.
func (c *commands) tried(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&c.trial.dryRun, "dry-run", tryNone,
		"Whether to change nothing: none, server (admission reviews the change and does not store it) or client (no request is sent).")
	_ = cmd.RegisterFlagCompletionFunc("dry-run", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{tryNone, tryServer, tryClient}, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// compared adds --diff to a command that changes a Workload.
func (c *commands) compared(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&c.trial.diff, "diff", false, "Show the change of the Workload. It is stored unless --dry-run says otherwise.")
	return c.tried(cmd)
}

// check rejects an unknown value.
func (t *trial) check() error {
	if !slices.Contains([]string{tryNone, tryServer, tryClient}, t.dryRun) {
		return fmt.Errorf("--dry-run: %q is not one of %s, %s and %s", t.dryRun, tryNone, tryServer, tryClient)
	}
	return nil
}

// isSent reports whether a request is sent to the API server.
func (t *trial) isSent() bool { return t.dryRun != tryClient }

// suffix returns the end that kubectl gives the line of a change that is not stored.
func (t *trial) suffix() string {
	switch t.dryRun {
	case tryServer:
		return " (server dry run)"
	case tryClient:
		return " (dry run)"
	}
	return ""
}

// differences returns the change of what a user writes in a Workload, as a unified diff; "": none.
func differences(before, after *v1alpha.Workload) (string, error) {
	var texts []string
	for _, w := range []*v1alpha.Workload{before, after} {
		encoded, err := yaml.Marshal(map[string]any{
			"metadata": map[string]any{"annotations": w.Annotations, "labels": w.Labels}, "spec": w.Spec,
		})
		if err != nil {
			return "", err
		}
		texts = append(texts, string(encoded))
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(strings.TrimSuffix(texts[0], "\n")), B: difflib.SplitLines(strings.TrimSuffix(texts[1], "\n")),
		FromFile: "workload/" + before.Name, ToFile: "workload/" + after.Name + " (changed)", Context: 3,
	})
}

// serverDryRun reports whether the API server reviews a write and does not store it.
func (t *trial) serverDryRun() bool { return t.dryRun == tryServer }

// patchOptions are the options of a patch of the command, in addition to others.
func (t *trial) patchOptions(others ...client.PatchOption) []client.PatchOption {
	if t.serverDryRun() {
		return append(others, client.DryRunAll)
	}
	return others
}
