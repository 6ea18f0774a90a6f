// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// kubectl-compute is a plugin of kubectl: `kubectl compute` shows and changes Workloads with the rights of their
// consumer.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way of authentication that kubectl has
	componentcli "k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/cli"
	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
)

const name = "kubectl-compute"

func main() {
	cli.CleanErrors(os.Stderr, os.Exit)
	util.CheckErr(componentcli.RunNoErrOutput(command(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})))
}

func command(streams genericiooptions.IOStreams) *cobra.Command {
	root := cli.New(cli.Options{
		Use: name, Flags: genericclioptions.NewConfigFlags(true), Streams: streams, Clock: clock.RealClock{}, Version: component.Version(),
	})
	component.AddVersion(root, name)
	return root
}
