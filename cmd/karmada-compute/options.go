// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// options are the flags, by what they are about.
type options struct {
	hub     hubOptions
	milo    miloOptions
	webhook webhookOptions
	serve   serveOptions
}

type hubOptions struct {
	kubeconfig     string
	leaseNamespace string
	concurrency    int
}

type miloOptions struct {
	kubeconfig         string
	projectConcurrency int
	shards             int
	replicaName        string
	leaseDuration      time.Duration
}

type webhookOptions struct {
	bindAddress string
	port        int
	certDir     string
}

type serveOptions struct {
	metrics     string
	healthProbe string
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.hub.kubeconfig, "kubeconfig", "", "Kubeconfig of the hub, the karmada-apiserver.")
	flags.StringVar(&o.hub.leaseNamespace, "lease-namespace", "karmada-system", "Namespace on the hub for the Leases by which replicas share the projects.")
	flags.IntVar(&o.hub.concurrency, "concurrency", 16, "How many objects each controller looks at at once.")

	flags.StringVar(&o.milo.kubeconfig, "milo-kubeconfig", "", "Kubeconfig of Milo's root.")
	flags.IntVar(&o.milo.projectConcurrency, "project-concurrency", 4, "How many of these may belong to one project.")
	flags.IntVar(&o.milo.shards, "shards", 16, "Number of parts that the projects are divided into among the replicas. The same on every replica.")
	flags.StringVar(&o.milo.replicaName, "replica-name", "", "Name of this replica, unique among those that run. Default: the host name.")
	flags.DurationVar(&o.milo.leaseDuration, "lease-duration", 30*time.Second, "How long the shards of a replica that was killed stay with it.")

	flags.StringVar(&o.webhook.bindAddress, "webhook-bind-address", "", "Address that webhooks are served on. Default: all.")
	flags.IntVar(&o.webhook.port, "webhook-port", 9443, "Port that webhooks are served on.")
	flags.StringVar(&o.webhook.certDir, "webhook-cert-dir", "/etc/karmada-compute/tls", "Folder with tls.crt and tls.key; both are read again when they change.")

	flags.StringVar(&o.serve.metrics, "metrics-bind-address", "0", "Address for metrics, served with the webhooks' certificate. 0: none.")
	flags.StringVar(&o.serve.healthProbe, "health-probe-bind-address", ":8081", "Address for /healthz and /readyz.")
}

// complete fills in what is not set and returns every mistake at once.
func (o *options) complete() error {
	var mistakes []error
	if o.hub.kubeconfig == "" {
		mistakes = append(mistakes, errors.New("--kubeconfig: name the kubeconfig of the karmada-apiserver"))
	}
	if o.milo.kubeconfig == "" {
		mistakes = append(mistakes, errors.New("--milo-kubeconfig: name the kubeconfig of Milo's root"))
	}
	if o.milo.replicaName == "" {
		name, err := os.Hostname()
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("--replica-name: give one, the host name cannot be read: %w", err))
		}
		o.milo.replicaName = name
	}
	for flag, value := range map[string]int{
		"concurrency": o.hub.concurrency, "project-concurrency": o.milo.projectConcurrency, "shards": o.milo.shards,
	} {
		if value < 1 {
			mistakes = append(mistakes, fmt.Errorf("--%s: %d is less than 1", flag, value))
		}
	}
	if o.milo.leaseDuration < 3*time.Second {
		mistakes = append(mistakes, fmt.Errorf("--lease-duration: %s is less than 3s", o.milo.leaseDuration))
	}
	return errors.Join(mistakes...)
}
