// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/featuregate"

	"github.com/karmada-compute/karmada-compute/webhook/host"
	"github.com/karmada-compute/karmada-compute/webhook/registration"
)

// options are the flags, by what they are about.
type options struct {
	hub     hubOptions
	milo    miloOptions
	webhook webhookOptions
	serve   host.Options
}

type hubOptions struct {
	kubeconfig    string
	namespace     string
	concurrency   int
	failoverAfter time.Duration
}

type miloOptions struct {
	kubeconfig         string
	projectConcurrency int
	shards             int
	replicaName        string
	leaseDuration      time.Duration
}

type webhookOptions struct {
	certDir     string
	caSecret    string
	caLifetime  time.Duration
	trustDelay  time.Duration
	register    bool
	url         string
	users       []string
	mode        string
	interpreter string
	namespaces  string
	features    featuregate.MutableVersionedFeatureGate
}

// What --admission-mode may be.
const (
	modeFail   = "Fail"
	modeIgnore = "Ignore"
	modeDryRun = "DryRun"
)

// What --interpreter-mode may be.
const (
	interpreterWebhook       = "webhook"
	interpreterCustomization = "customization"
)

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.hub.kubeconfig, "kubeconfig", "", "Kubeconfig of the hub, the karmada-apiserver.")
	flags.StringVar(&o.hub.namespace, "namespace", "karmada-system", "Namespace on the hub for the Leases by which replicas share the projects, and for the Secret with the webhooks' CA.")
	flags.IntVar(&o.hub.concurrency, "concurrency", 16, "How many objects each controller looks at at once.")
	flags.DurationVar(&o.hub.failoverAfter, "cell-failover-after", 5*time.Minute, "How long a cell may be lost before what it runs moves to the other cells of its city. 0: it never moves.")

	flags.StringVar(&o.milo.kubeconfig, "milo-kubeconfig", "", "Kubeconfig of Milo's root.")
	flags.IntVar(&o.milo.projectConcurrency, "project-concurrency", 4, "How many of these may belong to one project.")
	flags.IntVar(&o.milo.shards, "shards", 16, "Number of parts that the projects are divided into among the replicas. The same on every replica.")
	flags.StringVar(&o.milo.replicaName, "replica-name", "", "Name of this replica, unique among those that run. Default: the host name.")
	flags.DurationVar(&o.milo.leaseDuration, "lease-duration", 15*time.Second, "How long the shards of a replica that was killed stay with it.")

	flags.StringVar(&o.webhook.certDir, "webhook-cert-dir", "", "Folder with tls.crt, tls.key and, to be registered, ca.crt, as cert-manager writes them; read again when they change. Default: certificates of the add-on's own CA.")
	flags.StringVar(&o.webhook.caSecret, "webhook-ca-secret", "karmada-compute-webhook-ca", "Name of the Secret on the hub with the add-on's own CA. It is made when it is not there.")
	flags.DurationVar(&o.webhook.caLifetime, "webhook-ca-lifetime", 365*24*time.Hour, "How long a CA of the add-on's own lives. The next one is trusted everywhere long before it is used.")
	flags.DurationVar(&o.webhook.trustDelay, "webhook-ca-trust-delay", time.Minute, "How long API servers get to learn of a new CA, once every configuration carries it, before it is used.")
	flags.BoolVar(&o.webhook.register, "register-webhooks", true, "Write and keep the webhook configurations at Milo's root and on the hub, CAs included. If not, apply webhook/configuration.yaml, and policies/interpreter.yaml or interpreter/customization, yourself.")
	flags.StringVar(&o.webhook.url, "webhook-url", "", "URL at which Milo and Karmada reach the webhooks, if not through Service karmada-compute-webhook.")
	flags.StringSliceVar(&o.webhook.users, "add-on-users", nil, "Users that the add-on's controllers are at Milo: only they may write WorkloadDeployments and Instances. Default: who this process is there.")
	flags.StringVar(&o.webhook.mode, "admission-mode", modeFail, "Fail: what cannot be reviewed is refused. Ignore: it is let through. DryRun: so is what would be refused, with a warning and a count. For introducing admission step by step.")
	flags.StringVar(&o.webhook.interpreter, "interpreter-mode", interpreterCustomization, "How Karmada learns what a WorkloadDeployment is. customization: by Lua that it runs itself, in the agents of cells in pull mode too. webhook: by calling this process, which every agent of a cell in pull mode must reach.")
	flags.StringVar(&o.webhook.namespaces, "admission-namespace-selector", "", "Label selector of the namespaces in projects where admission is asked. Default: all.")
	o.webhook.features.AddFlag(flags)

	o.serve.AddFlags(flags)
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
	if o.hub.failoverAfter < 0 {
		mistakes = append(mistakes, fmt.Errorf("--cell-failover-after: %s is less than 0", o.hub.failoverAfter))
	}
	return errors.Join(append(mistakes, o.webhook.check()...)...)
}

// check returns every mistake.
func (o *webhookOptions) check() []error {
	var mistakes []error
	if address, err := url.Parse(o.url); o.url != "" && (err != nil || address.Scheme != "https" || address.Host == "") {
		mistakes = append(mistakes, fmt.Errorf("--webhook-url: %q is no URL such as https://webhooks.example.com:9443", o.url))
	}
	for flag, choice := range map[string]struct {
		value string
		of    []string
	}{
		"admission-mode":   {o.mode, []string{modeFail, modeIgnore, modeDryRun}},
		"interpreter-mode": {o.interpreter, []string{interpreterWebhook, interpreterCustomization}},
	} {
		if !slices.Contains(choice.of, choice.value) {
			mistakes = append(mistakes, fmt.Errorf("--%s: %q is none of %s", flag, choice.value, strings.Join(choice.of, ", ")))
		}
	}
	if _, err := metav1.ParseToLabelSelector(o.namespaces); err != nil {
		mistakes = append(mistakes, fmt.Errorf("--admission-namespace-selector: %w", err))
	}
	return mistakes
}

// stage sets how strictly, and where, admission is asked.
func (o *webhookOptions) stage(r *registration.Registration) error {
	r.FailurePolicy = admissionregistrationv1.Fail
	if o.mode != modeFail {
		r.FailurePolicy = admissionregistrationv1.Ignore
	}
	if o.namespaces == "" {
		return nil
	}
	var err error
	r.NamespaceSelector, err = metav1.ParseToLabelSelector(o.namespaces)
	return err
}
