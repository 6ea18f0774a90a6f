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
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
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
	cmd.AddCommand(upCommand(), downCommand(), statusCommand(), envCommand(), cellCommand(), demoCommand(), soakCommand(), miloCommand(), balancerCommand(), isolateCommand(), keepCommand(),
		nodeCommand())
	return cmd
}

// folderFlag adds --folder, the same for all subcommands.
func folderFlag(cmd *cobra.Command, folder *string) {
	cmd.Flags().StringVar(folder, "folder", defaultFolder(), "folder of the federation: certificates, kubeconfigs, logs, run state")
}

// defaultFolder returns a folder below the user's state folder. It is empty for a
// user without a home, who must set the flag.
func defaultFolder() string {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "karmada-compute", "federation")
}
