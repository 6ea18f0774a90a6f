// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what admission adds to a create, the time from create to Ready, rollouts and the cost of more
// and more deployments. Each measurement has a floor in the same run, so that results of different machines can be
// compared.
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
	// A closed terminal or pipe must stop the started processes, as Ctrl-C does.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	// Libraries would log between the lines of progress. Relevant failures are returned as errors.
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
		Short:         "Measure admission, creation and scale; each subcommand prints Markdown tables",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.AddCommand(latencyCommand(), readyCommand(), scaleCommand())
	return cmd
}
