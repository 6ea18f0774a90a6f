// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
)

// options are the flags, in groups.
type options struct {
	cell      cellOptions
	election  electionOptions
	endpoints component.Endpoints
}

type cellOptions struct {
	kubeconfig  string
	name        string
	concurrency int
	client      component.Client
}

type electionOptions struct {
	enabled   bool
	namespace string
}

func newOptions() *options {
	return &options{cell: cellOptions{client: component.Client{QPS: 100, Burst: 200}}}
}

// AddFlags adds every flag with its default.
func (o *options) AddFlags(groups *cliflag.NamedFlagSets) {
	cell := groups.FlagSet("cell")
	cell.StringVar(&o.cell.kubeconfig, "kubeconfig", "", "Kubeconfig of the cell. Default: that of $KUBECONFIG or, if this is not set either, in-cluster configuration.")
	cell.StringVar(&o.cell.name, "cell", "", "Name of the cell, for the log and the user agent.")
	o.cell.client.AddFlags(cell)

	controllers := groups.FlagSet("controllers")
	controllers.IntVar(&o.cell.concurrency, "concurrency", 16, "How many objects each controller reconciles at once.")

	election := groups.FlagSet("leader election")
	election.BoolVar(&o.election.enabled, "leader-elect", true, "Use leader election, so that one of several replicas is active.")
	election.StringVar(&o.election.namespace, "leader-elect-resource-namespace", "karmada-compute-system", "Namespace of the Lease for leader election.")

	o.endpoints.AddFlags(groups.FlagSet("metrics and health"), "a self-signed certificate")
}

// Validate returns all errors at once.
func (o *options) Validate() error {
	mistakes := []error{o.cell.client.Validate(), o.endpoints.Validate()}
	if o.cell.concurrency < 1 {
		mistakes = append(mistakes, fmt.Errorf("--concurrency: %d is less than 1", o.cell.concurrency))
	}
	if o.election.enabled {
		for _, problem := range validation.IsDNS1123Label(o.election.namespace) {
			mistakes = append(mistakes, fmt.Errorf("--leader-elect-resource-namespace: %q: %s", o.election.namespace, problem))
		}
	}
	if strings.ContainsAny(o.cell.name, " \t\r\n") {
		mistakes = append(mistakes, fmt.Errorf("--cell: %q has white space in it", o.cell.name))
	}
	return errors.Join(mistakes...)
}
