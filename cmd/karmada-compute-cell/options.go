// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
)

// options are the flags, by what they are about.
type options struct {
	cell     cellOptions
	election electionOptions
	serve    serveOptions
	log      logOptions
}

type cellOptions struct {
	kubeconfig  string
	name        string
	concurrency int
	qps         float32
	burst       int
}

type electionOptions struct {
	enabled   bool
	namespace string
}

type serveOptions struct {
	metrics        string
	metricsCertDir string
	healthProbe    string
}

type logOptions struct {
	format    string
	verbosity int
}

// AddFlags adds every flag with its default.
func (o *options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.cell.kubeconfig, "kubeconfig", "", "Kubeconfig of the cell. Default: the cluster that this runs in.")
	flags.StringVar(&o.cell.name, "cell", "", "Name of the cell, for logs and the user agent.")
	flags.IntVar(&o.cell.concurrency, "concurrency", 16, "How many objects each controller looks at at once.")
	flags.Float32Var(&o.cell.qps, "kube-api-qps", 100, "Requests a second to the kube-apiserver, on average. Negative: no limit of ours.")
	flags.IntVar(&o.cell.burst, "kube-api-burst", 200, "Requests to the kube-apiserver that may come at once.")

	flags.BoolVar(&o.election.enabled, "leader-elect", true, "Let one of several replicas act.")
	flags.StringVar(&o.election.namespace, "leader-election-namespace", "karmada-compute-system", "Namespace of the Lease by which replicas choose who acts.")

	flags.StringVar(&o.serve.metrics, "metrics-bind-address", "127.0.0.1:8080", "Address for metrics, served by TLS. 0: none.")
	flags.StringVar(&o.serve.metricsCertDir, "metrics-cert-dir", "", "Folder with tls.crt and tls.key for metrics; both are read again when they change. Default: a certificate made at start.")
	flags.StringVar(&o.serve.healthProbe, "health-probe-bind-address", ":8081", "Address for /healthz and /readyz. 0: none.")

	flags.StringVar(&o.log.format, "log-format", "text", "Format of the log: text or json.")
	flags.IntVarP(&o.log.verbosity, "verbosity", "v", 0, "How much is logged; 0 is least.")
}

// Validate returns every mistake at once.
func (o *options) Validate() error {
	var mistakes []error
	if o.cell.concurrency < 1 {
		mistakes = append(mistakes, fmt.Errorf("--concurrency: %d is less than 1", o.cell.concurrency))
	}
	if o.cell.qps == 0 {
		mistakes = append(mistakes, errors.New("--kube-api-qps: 0 lets nothing through; give a rate, or -1 for no limit"))
	}
	if o.cell.qps > 0 && o.cell.burst < 1 {
		mistakes = append(mistakes, fmt.Errorf("--kube-api-burst: %d is less than 1", o.cell.burst))
	}
	if o.election.enabled {
		for _, problem := range validation.IsDNS1123Label(o.election.namespace) {
			mistakes = append(mistakes, fmt.Errorf("--leader-election-namespace: %q: %s", o.election.namespace, problem))
		}
	}
	if o.log.format != "text" && o.log.format != "json" {
		mistakes = append(mistakes, fmt.Errorf("--log-format: %q is neither text nor json", o.log.format))
	}
	if o.log.verbosity < 0 {
		mistakes = append(mistakes, fmt.Errorf("--verbosity: %d is less than 0", o.log.verbosity))
	}
	if strings.ContainsAny(o.cell.name, " \t\r\n") {
		mistakes = append(mistakes, fmt.Errorf("--cell: %q has white space in it", o.cell.name))
	}
	return errors.Join(mistakes...)
}
