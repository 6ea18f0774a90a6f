// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// karmada-compute-cell runs in a member cluster. It creates and deletes the Instances and Pods of the
// WorkloadDeployments there and reports them in their status. It accesses no other cluster.
package main

import (
	"context"
	"os"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
)

func main() { os.Exit(newComponent().Main()) }

func newComponent() *component.Component {
	o := newOptions()
	return &component.Component{
		Name: name,
		Long: "karmada-compute-cell runs the Instances of the WorkloadDeployments in its cluster and reports them in their status. " +
			"It runs in every cell and accesses no other cluster.",
		Options: o,
		Run:     func(ctx context.Context) error { return run(ctx, o) },
	}
}
