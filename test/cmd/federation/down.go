// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

func downCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a federation and keep its logs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := federation.Open(folder)
			if errors.Is(err, os.ErrNotExist) {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "no federation in", folder)
				return err
			}
			if err != nil {
				return err
			}
			running := 0
			for _, process := range f.Status() {
				if process.Running {
					running++
				}
			}
			if err := f.Down(cmd.Context()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d processes stopped, their logs are in %s/log\n", running, f.Folder())
			return err
		},
	}
	folderFlag(cmd, &folder)
	return cmd
}
