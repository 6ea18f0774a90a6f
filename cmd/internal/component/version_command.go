// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"fmt"

	"github.com/spf13/cobra"
)

// AddVersion adds the flag --version and the command version to the root command of a program that has subcommands.
func AddVersion(root *cobra.Command, name string) {
	var wanted versionFlag
	wanted.addFlag(root.Flags())
	without := root.RunE
	root.RunE = func(command *cobra.Command, args []string) error {
		if !wanted.requested() {
			return without(command, args)
		}
		return wanted.print(command.OutOrStdout(), name, Version())
	}
	var output string
	command := &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		Long:    "Print the version of this program. It sends no request.",
		Example: "  " + root.DisplayName() + " version -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			format := versionFlag(versionTrue)
			if output != "" {
				if output != versionJSON && output != versionRaw {
					return fmt.Errorf("--output: %q is neither %s nor %s", output, versionJSON, versionRaw)
				}
				format = versionFlag(output)
			}
			return format.print(command.OutOrStdout(), name, Version())
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "Output format: json, raw. Default: one line.")
	root.AddCommand(command)
}
