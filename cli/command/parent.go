// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// mostTypos is how many letters a word may differ from the command that is suggested for it.
const mostTypos = 2

// Parent makes a command that only has subcommands print its help, and answer a wrong subcommand with the nearest ones.
func Parent(parent *cobra.Command) *cobra.Command {
	parent.SuggestionsMinimumDistance = mostTypos
	parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	parent.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		nearest := ""
		if found := cmd.SuggestionsFor(args[0]); len(found) > 0 {
			nearest = "\n\nDid you mean this?\n\t" + strings.Join(found, "\n\t")
		}
		return fmt.Errorf("unknown command %q for %q%s\nSee '%[2]s -h' for all commands", args[0], cmd.CommandPath(), nearest)
	}
	return parent
}
