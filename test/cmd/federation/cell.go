// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

func cellCommand() *cobra.Command {
	var cell federation.Cell
	cmd := onFederation(&cobra.Command{
		Use:   "cell NAME",
		Short: "Add a member cluster to a federation that runs",
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, f *federation.Federation, args []string) error {
		cell.Name = args[0]
		if err := f.AddCell(cmd.Context(), cell); err != nil {
			return err
		}
		path, err := f.Kubeconfig("cell/"+cell.Name, federation.Admin)
		if err != nil {
			return err
		}
		return printRow(cmd.OutOrStdout(), "cell/"+cell.Name, path)
	})
	cmd.Flags().StringVar(&cell.City, "city", "", "city code with which its Cluster is labelled (default: it has no city)")
	cmd.Flags().IntVar(&cell.Containers, "containers", 0, "nodes that run containers instead of nodes that simulate them")
	cmd.Flags().BoolVar(&cell.Pull, "pull", false, "join it in pull mode")
	return cmd
}
