// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// karmada-compute-cell runs in a member cluster. It creates and deletes the Instances and Pods of the WorkloadDeployments there
// and reports them in their status. It accesses no other cluster.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	var o options
	command := &cobra.Command{
		Use:           "karmada-compute-cell",
		Short:         "Run the Instances of WorkloadDeployments in this cluster and report them",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			return run(cmd.Context(), &o)
		},
	}
	o.AddFlags(command.Flags())
	if err := command.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "karmada-compute-cell:", err)
		os.Exit(1)
	}
}
