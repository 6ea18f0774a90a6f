// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures admission: what it adds to a create, how many requests a core answers, and what a replica
// needs when Milo has many projects; and how a status gets from a cell to the hub. Each measurement has its floor in the same run, so that it can be compared
// between machines.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	// A closed terminal or pipe must stop what was started as Ctrl-C does.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	// What libraries have to say would be lines in the middle of our progress; what matters comes back as an error.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		stop()
		os.Exit(1)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "bench",
		Short:         "Measure admission and the way of a status to the hub; each subcommand prints Markdown tables",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.AddCommand(latencyCommand(), throughputCommand(), projectsCommand(), interpreterCommand(),
		echoCommand(), miloCommand(), oursCommand(), cachesCommand())
	return cmd
}
