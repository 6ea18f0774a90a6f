// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command federation runs a real Karmada federation, with a stand-in for Milo,
// as processes on this machine.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		stop()
		os.Exit(1)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "federation",
		Short:         "Run a local Karmada federation as processes",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.AddCommand(upCommand(), downCommand(), statusCommand(), envCommand(), cellCommand(), demoCommand(), soakCommand(),
		hostileCommand(), miloCommand(), balancerCommand(), loadBalancersCommand(), isolateCommand(), keepCommand(),
		nodeCommand(), containersCommand())
	return cmd
}

// folderFlag adds --folder, the same for all subcommands.
func folderFlag(cmd *cobra.Command, folder *string) {
	cmd.Flags().StringVar(folder, "folder", federation.DefaultFolder(), "folder of the federation: certificates, kubeconfigs, logs, run state")
}

// onFederation makes run the command's work on the federation in --folder.
func onFederation(cmd *cobra.Command, run func(cmd *cobra.Command, f *federation.Federation, args []string) error) *cobra.Command {
	var folder string
	folderFlag(cmd, &folder)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := federation.Open(folder)
		if err != nil {
			return err
		}
		return run(cmd, f, args)
	}
	return cmd
}
