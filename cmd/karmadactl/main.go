// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// karmadactl is Karmada's own karmadactl with the addon karmada-compute. As kubectl-karmada in $PATH it is a plugin of
// kubectl.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/karmada-io/karmada/pkg/karmadactl"
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc" // authentication by OIDC, as in Karmada's own
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd/util"

	"github.com/karmada-compute/karmada-compute/addon"
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
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err)
	}
}
