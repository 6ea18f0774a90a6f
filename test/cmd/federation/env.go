// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

func envCommand() *cobra.Command {
	var project string
	cmd := onFederation(&cobra.Command{
		Use:   "env",
		Short: "Print the variables that the documentation's commands need, for eval in a shell",
		Args:  cobra.NoArgs,
	}, func(cmd *cobra.Command, f *federation.Federation, _ []string) error {
		if err := f.BuildDocumented(cmd.Context()); err != nil {
			return err
		}
		environment, err := f.Environment(project, consumer)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(environment)) {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "export %s=%s\n", name, quoted(environment[name])); err != nil {
				return err
			}
		}
		return nil
	})
	cmd.Flags().StringVar(&project, "project", "north", "project of $KUBECONFIG and $PROJECT")
	return cmd
}

// quoted is a value as one word of a shell.
func quoted(value string) string { return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'" }
