// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// karmada-compute runs beside the karmada-apiserver: the controllers between projects and hub, the admission webhook
// and the ResourceInterpreter webhook. Every replica serves webhooks; the projects are shared among the replicas.
package main

import (
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	ctx := ctrl.SetupSignalHandler()
	a := newApp()
	command := &cobra.Command{
		Use:           "karmada-compute",
		Short:         "Run Workloads of Milo projects in the cities they name, on the cells of a Karmada federation",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.options.complete(); err != nil {
				return err
			}
			setLogger(textlogger.NewLogger(textlogger.NewConfig()))
			return a.run(cmd.Context())
		},
	}
	a.addFlags(command.Flags())
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "karmada-compute:", err)
		os.Exit(1)
	}
}

// setLogger gives controller-runtime and client-go the same logger.
func setLogger(logger logr.Logger) {
	klog.SetLogger(logger)
	ctrl.SetLogger(logger)
}
