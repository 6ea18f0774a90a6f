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

// options are the flags, in groups.
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
	flags.StringVar(&o.cell.kubeconfig, "kubeconfig", "", "Kubeconfig of the cell. Default: in-cluster configuration.")
	flags.StringVar(&o.cell.name, "cell", "", "Name of the cell, for the log and the user agent.")
	flags.IntVar(&o.cell.concurrency, "concurrency", 16, "How many objects each controller reconciles at the same time.")
	flags.Float32Var(&o.cell.qps, "kube-api-qps", 100, "Average number of requests to the kube-apiserver per second. Negative: no client-side limit.")
	flags.IntVar(&o.cell.burst, "kube-api-burst", 200, "Number of requests to the kube-apiserver that may exceed the average at once.")

	flags.BoolVar(&o.election.enabled, "leader-elect", true, "Use leader election, so that one of several replicas is active.")
	flags.StringVar(&o.election.namespace, "leader-election-namespace", "karmada-compute-system", "Namespace of the Lease for leader election.")

	flags.StringVar(&o.serve.metrics, "metrics-bind-address", "127.0.0.1:8080", "Address of the metrics endpoint, which uses TLS. 0: none.")
	flags.StringVar(&o.serve.metricsCertDir, "metrics-cert-dir", "", "Directory with tls.crt and tls.key for the metrics endpoint, which are reloaded when they change. Default: a self-signed certificate.")
	flags.StringVar(&o.serve.healthProbe, "health-probe-bind-address", ":8081", "Address of the endpoints /healthz and /readyz. 0: none.")

	flags.StringVar(&o.log.format, "log-format", "text", "Format of the log: text or json.")
	flags.IntVarP(&o.log.verbosity, "verbosity", "v", 0, "Verbosity of the log; 0 is the lowest.")
}

// Validate returns all errors at once.
func (o *options) Validate() error {
	var mistakes []error
	if o.cell.concurrency < 1 {
		mistakes = append(mistakes, fmt.Errorf("--concurrency: %d is less than 1", o.cell.concurrency))
	}
	if o.cell.qps == 0 {
		mistakes = append(mistakes, errors.New("--kube-api-qps: 0 allows no request; give a rate, or -1 for no limit"))
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
