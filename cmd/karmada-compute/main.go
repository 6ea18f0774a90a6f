// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// karmada-compute runs beside the karmada-apiserver: the controllers between projects and hub, the admission webhook
// and the ResourceInterpreter webhook. Every replica serves webhooks; the projects are shared among the replicas.
package main

import (
	"os"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
)

func main() { os.Exit(newComponent().Main()) }

func newComponent() *component.Component {
	a := newApp()
	return &component.Component{
		Name: name,
		Long: "karmada-compute runs Workloads of projects in the cities they name, on the cells of a Karmada federation. " +
			"It runs beside the karmada-apiserver: controllers, admission of Workloads and, if Karmada is to call it, the interpreter.",
		Options: a,
		Run:     a.run,
	}
}
