// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// kubectl-compute is a plugin of kubectl: `kubectl compute` shows and changes Workloads with the rights of their consumer.
package main

import (
	"os"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way of authentication that kubectl has
	componentcli "k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/cli"
)

func main() {
	command := cli.New(cli.Options{
		Use:     "kubectl-compute",
		Flags:   genericclioptions.NewConfigFlags(true),
		Streams: genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
		Clock:   clock.RealClock{},
	})
	util.CheckErr(componentcli.RunNoErrOutput(command))
}
