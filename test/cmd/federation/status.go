// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

func statusCommand() *cobra.Command {
	return onFederation(&cobra.Command{
		Use: "status", Short: "List the processes of a federation, and fail if one is not running", Args: cobra.NoArgs,
	}, status)
}

func status(cmd *cobra.Command, f *federation.Federation, _ []string) error {
	processes := f.Status()
	if len(processes) == 0 {
		return fmt.Errorf("the federation in %s is down: start it with up", f.Folder())
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(table, "NAME\tPID\tRUNNING\tLOG")
	stopped := 0
	for _, process := range processes {
		if !process.Running {
			stopped++
		}
		if err == nil {
			_, err = fmt.Fprintf(table, "%s\t%d\t%t\t%s\n", process.Name, process.PID, process.Running, process.Log)
		}
	}
	if err != nil {
		return err
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if stopped > 0 {
		return fmt.Errorf("%d of %d processes are not running", stopped, len(processes))
	}
	return nil
}
