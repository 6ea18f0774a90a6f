// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// kubectl is Kubernetes' own, of the version that karmadactl uses, for the commands of the documentation: the machine
// that runs them needs no other kubectl.
package main

import (
	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way of authentication that kubectl has
	componentcli "k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := componentcli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
