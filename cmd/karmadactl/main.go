// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// karmadactl is Karmada's own karmadactl with the addon karmada-compute and the command compute. As kubectl-karmada in
// $PATH it is a plugin of kubectl.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/karmada-io/karmada/pkg/karmadactl"
	"github.com/karmada-io/karmada/pkg/karmadactl/options"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc" // authentication by OIDC, as in Karmada's own
	componentcli "k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/addon"
	"github.com/karmada-compute/karmada-compute/cli"
	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
)

func main() {
	use, parent := "karmadactl", "karmadactl"
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl-") {
		use, parent = "kubectl-karmada", "kubectl karmada"
	}
	command := karmadactl.NewKarmadaCtlCommand(use, parent)
	if err := addon.Register(command); err != nil {
		fmt.Fprintln(os.Stderr, "karmadactl:", err)
		os.Exit(1)
	}
	command.AddCommand(cli.New(cli.Options{
		Use: "compute", Flags: options.DefaultConfigFlags, Operator: true,
		Streams: genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, Clock: clock.RealClock{},
		Version: component.Version(),
	}))
	cli.CleanErrors(os.Stderr, os.Exit)
	if err := componentcli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err)
	}
}
