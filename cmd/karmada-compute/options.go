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

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/webhook/registration"
	"github.com/karmada-compute/karmada-compute/webhook/rotation"
	"github.com/karmada-compute/karmada-compute/webhook/rotation/paths"
	"github.com/karmada-compute/karmada-compute/webhook/server"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// options are the values of the flags, by subject.
type options struct {
	hub       hubOptions
	milo      miloOptions
	client    component.Client
	webhook   webhookOptions
	serve     server.Options
	endpoints component.Endpoints
	sessions  sessionOptions
	names     nameOptions
}

type hubOptions struct {
	kubeconfig     string
	tokenSecret    string
	namespace      string
	concurrency    int
	failoverAfter  time.Duration
	holdCities     bool
	inventoryAfter time.Duration
	// defaultType is the instance type of Workloads that name none.
	defaultType string
	// deprecationGrace is how long after its deprecation an instance type may be named by new Workloads.
	deprecationGrace time.Duration
	// auditInterval and auditAfter are for the audit of the paths to the cells.
	auditInterval, auditAfter time.Duration
	maxDataBytes              int
}

type miloOptions struct {
	// projects is projectsOfMilo or projectsAreNamespaces.
	projects           string
	kubeconfig         string
	projectConcurrency int
	shards             int
	replicaName        string
	leaseDuration      time.Duration
	// peers is the address at which other replicas ping this one; 0 disables it.
	peers         string
	withdrawAfter time.Duration
	// idleAfter and sweep are for projects without Workloads.
	idleAfter, sweep time.Duration
	// quota is set if Instances need quota; quotaProjects selects the projects.
	quota         bool
	quotaProjects string
}

type webhookOptions struct {
	certDir      string
	caSecret     string
	caLifetime   time.Duration
	trustDelay   time.Duration
	pathSecret   string
	pathLifetime time.Duration
	pathSpacing  time.Duration
	register     bool
	url          string
	users        []string
	mode         string
	interpreter  string
	namespaces   string
	features     featuregate.MutableVersionedFeatureGate
	// bounds limit the size of a Workload, and most all Workloads of a project together.
	bounds       validation.Bounds
	projectLimit templates.Demand
}

// Values of --projects.
const (
	projectsOfMilo        = "milo"
	projectsAreNamespaces = "namespaces"
)

// Values of --admission-mode.
const (
	modeFail   = "Fail"
	modeIgnore = "Ignore"
	modeDryRun = "DryRun"
)

// Values of --interpreter-mode.
const (
	interpreterWebhook       = "webhook"
	interpreterCustomization = "customization"
)

func (o *options) addFlags(groups *cliflag.NamedFlagSets) {
	hub := groups.FlagSet("hub")
	hub.StringVar(&o.hub.kubeconfig, "kubeconfig", "", "Kubeconfig of the hub, the karmada-apiserver.")
	hub.StringVar(&o.hub.tokenSecret, "token-secret", "",
		"Namespace and name of the Secret, in the cluster that runs this Pod, with the token of --kubeconfig, whose user has a "+
			"tokenFile. The replicas renew the token after a third of its life. Default: no replica renews it.")
	hub.StringVar(&o.hub.namespace, "namespace", "karmada-system",
		"Namespace on the hub for the Leases that divide the projects among the replicas, and for the Secrets with the CA and "+
			"the paths of the webhooks.")

	hub.StringVar(&o.hub.defaultType, "default-instance-type", "datumcloud-d1-standard-2",
		"Instance type of Workloads that do not name an instance type. Empty: Workloads must name an instance type. A change "+
			"affects only Workloads that are created later. The value must be the same on every replica.")
	hub.DurationVar(&o.hub.deprecationGrace, "instance-type-deprecation-grace", 60*24*time.Hour,
		"How long new Workloads may name an InstanceType after it was deprecated. Afterwards such Workloads are refused, and "+
			"existing Workloads keep the InstanceType. 0: forever. The value must be the same on every replica.")

	milo := groups.FlagSet("milo")
	milo.StringVar(&o.milo.projects, "projects", projectsOfMilo,
		"Kind of projects. milo: a project control plane of Milo. namespaces: a namespace of the hub with label "+
			"compute.datumapis.com/project=true, without Milo. The value must be the same on every replica, and must not change "+
			"while there are Workloads.")
	milo.StringVar(&o.milo.kubeconfig, "milo-kubeconfig", "", "Kubeconfig of Milo's root. Required with --projects=milo.")
	milo.StringSliceVar(&o.webhook.users, "add-on-users", nil,
		"Users that Milo authenticates the controllers of the add-on as. With --projects=namespaces, users that the hub "+
			"authenticates them as. Only these users may write WorkloadDeployments and Instances. Default: the user of "+
			"--milo-kubeconfig, or of --kubeconfig with --projects=namespaces.")
	o.client.AddFlags(groups.FlagSet("clients"))

	controllers := groups.FlagSet("controllers")
	controllers.IntVar(&o.hub.concurrency, "concurrency", 16, "Maximum number of objects that each controller reconciles concurrently.")
	controllers.IntVar(&o.milo.projectConcurrency, "project-concurrency", 4,
		"Maximum number of objects of one project that each controller reconciles concurrently.")
	controllers.IntVar(&o.milo.shards, "shards", 16,
		"Number of shards into which the projects are divided among the replicas. The value must be the same on every replica.")
	controllers.StringVar(&o.milo.replicaName, "replica-name", "",
		"Name of this replica, unique among the running replicas. Default: the host name.")
	controllers.DurationVar(&o.milo.leaseDuration, "lease-duration", 15*time.Second,
		"Maximum time until other replicas take over the shards of a replica that was killed, if they do not reach each other "+
			"at --peer-bind-address; otherwise a quarter of that. A replica that restarts under its name keeps its shards. The "+
			"Leases expire earlier. The value must be the same on every replica.")
	controllers.StringVar(&o.milo.peers, "peer-bind-address", ":9445",
		"Address at which other replicas ping this replica, to notice soon when it is killed. Each process has a key of its "+
			"own, whose fingerprint is in its Lease on the hub. Without a host, other replicas use the address from which this "+
			"replica reaches the hub. 0: none.")
	controllers.DurationVar(&o.milo.withdrawAfter, "project-withdrawal-after", 2*time.Minute,
		"How long Milo or, with --projects=namespaces, the hub must report that a project does not exist, at least three times "+
			"and without any other answer, before the leftover objects of the project are deleted from the hub. 0: they are never deleted.")
	controllers.DurationVar(&o.milo.idleAfter, "project-idle-after", 10*time.Minute,
		"How long a project is watched after its last Workload is deleted. The mark of the project on the hub is deleted some "+
			"minutes later. Projects without Workloads are not watched. 0: every project is always watched. The value must be the "+
			"same on every replica.")
	controllers.DurationVar(&o.milo.sweep, "project-sweep", time.Hour,
		"Interval in which every project that is not watched is visited once, to find Workloads that admission did not review "+
			"and to offer the instance types there. New projects are visited at once. 0: projects are never visited, and the "+
			"add-on sends no request to a project without Workloads.")
	controllers.BoolVar(&o.milo.quota, "quota", false,
		"With --projects=milo: claim quota at Milo for every Instance, and start no Instance without a grant. Milo needs "+
			"ResourceRegistrations for compute.datumapis.com/instances, /vcpus (thousandths of a CPU) and /memory (MiB).")
	controllers.StringVar(&o.milo.quotaProjects, "quota-projects", "",
		"With --quota, a label selector of the Projects whose Instances need quota, to introduce quota step by step. Use a "+
			"label that consumers cannot write. Default: all projects.")
	controllers.BoolVar(&o.hub.holdCities, "hold-cities", false,
		"Hold all failovers between cities: no placement leaves a city that serves nothing, and none returns. Times begin again afterwards. The "+
			"value must be the same on every replica.")
	controllers.DurationVar(&o.hub.failoverAfter, "cell-failover-after", 5*time.Minute,
		"How long a cell may be lost before its Instances move to the other cells of its city. 0: Instances never move.")
	controllers.DurationVar(&o.hub.inventoryAfter, "inventory-after", 30*time.Second,
		"How long a cell and the hub must disagree about which WorkloadDeployments the cell has before the difference is "+
			"investigated, and the minimum time between two requests to a project for the same WorkloadDeployment. After two "+
			"answers the add-on requests that Karmada remove the WorkloadDeployment from the cell. At least 1s.")
	controllers.DurationVar(&o.hub.auditInterval, "audit-interval", 5*time.Minute,
		"How often the path of each deployment through Karmada to its cells and back is audited when no event triggers an audit. At least 10s.")
	controllers.DurationVar(&o.hub.auditAfter, "audit-after", 20*time.Second,
		"How long the path between a deployment and its cells may be broken before its Instances are shown as Unknown and the "+
			"add-on triggers a Karmada reconcile. At least 1s.")
	controllers.IntVar(&o.hub.maxDataBytes, "max-project-data-bytes", 40<<20,
		"Maximum bytes of all ConfigMaps and Secrets that the Workloads of a project name, each counted once. An object that "+
			"would exceed the limit is not copied to cells, and copies that exist may not grow. 0: no limit.")

	o.names.addFlags(groups.FlagSet("names"))

	webhooks := groups.FlagSet("webhooks")
	webhooks.StringVar(&o.webhook.certDir, "webhook-cert-dir", "",
		"Folder with tls.crt and tls.key and, when the webhooks are registered, ca.crt, as cert-manager writes them. The files "+
			"are reloaded when they change. Default: certificates of the add-on's own CA.")
	webhooks.StringVar(&o.webhook.caSecret, "webhook-ca-secret", "karmada-compute-webhook-ca",
		"Name of the Secret on the hub with the CA of the add-on. The add-on creates the Secret if it does not exist.")
	webhooks.DurationVar(&o.webhook.caLifetime, "webhook-ca-lifetime", 365*24*time.Hour,
		"Lifetime of the CA of the add-on. API servers trust the next CA long before it is used.")
	webhooks.DurationVar(&o.webhook.trustDelay, "webhook-ca-trust-delay", rotation.DefaultDelay,
		"Time for API servers to load changed webhook configurations: delay before a new CA is used and an old path is rejected.")
	webhooks.StringVar(&o.webhook.pathSecret, "webhook-path-secret", "karmada-compute-webhook-path",
		"Name of the Secret on the hub with the keys from which the unguessable paths of the webhooks are derived. Callers "+
			"that know such a path need no credentials. The add-on creates the Secret if it does not exist.")
	webhooks.DurationVar(&o.webhook.pathLifetime, "webhook-path-lifetime", paths.DefaultLifetime,
		"How long an unguessable path is used before another one is registered. With --register-webhooks=false, paths change only on request.")
	webhooks.DurationVar(&o.webhook.pathSpacing, "webhook-path-exposure-interval", paths.DefaultSpacing,
		"Least age at which an unguessable path is replaced because an API server may have shown it in an error. With "+
			"--register-webhooks=false, paths change only on request.")
	webhooks.BoolVar(&o.webhook.register, "register-webhooks", true,
		"Create and update the webhook configurations at Milo's root, with --projects=milo, and on the hub, with their CA "+
			"bundles and paths. If false, apply webhook/configuration.yaml, and policies/interpreter.yaml or interpreter/customization, yourself.")
	webhooks.StringVar(&o.webhook.url, "webhook-url", "",
		"URL at which Milo or, with --projects=namespaces, the hub, and Karmada call the webhooks. Default: the URL of Service "+
			"karmada-compute-webhook.")
	webhooks.StringVar(&o.webhook.mode, "admission-mode", modeFail,
		"Fail: requests that cannot be reviewed are refused. Ignore: such requests are admitted. DryRun: as Ignore, and "+
			"requests that would be refused are admitted with a warning and counted. Use Ignore and DryRun to introduce admission step by step.")
	webhooks.StringVar(&o.webhook.namespaces, "admission-namespace-selector", "",
		"Label selector of the namespaces in projects whose objects admission reviews. --project-sweep finds the first "+
			"Workload of a project that admission does not review. Default: all namespaces.")
	webhooks.Int64Var(&o.webhook.bounds.TemplateBytes, "max-template-bytes", validation.TemplateBytes,
		"Largest template of a Workload in bytes, encoded as JSON. Each Instance has a copy of it in its cell and in its "+
			"project. Larger templates that are stored already may not grow. 0: no limit.")
	webhooks.Int64Var(&o.webhook.bounds.CityBytes, "max-city-bytes", 64<<20,
		"Largest product of the template of a Workload in bytes and the Instances that the Workload may have in one city. 0: no limit.")
	webhooks.Int64Var(&o.webhook.projectLimit.Instances, "max-project-instances", 20000,
		"Maximum number of Instances of all Workloads of a project. Workloads that are scaled by metrics count with "+
			"maxReplicas. Workloads that several replicas admit at the same time may exceed the limit. 0: no limit.")
	webhooks.Int64Var(&o.webhook.projectLimit.Bytes, "max-project-bytes", 40<<20,
		"Maximum bytes of all Workloads of a project: each with its annotations, its template, and a copy of its template for "+
			"each Instance that it may have. Workloads that several replicas admit at the same time may exceed the limit. 0: no limit.")
	webhooks.StringVar(&o.webhook.interpreter, "interpreter-mode", interpreterCustomization,
		"How Karmada interprets WorkloadDeployments. customization: by Lua scripts that Karmada runs itself, also in the "+
			"agents of cells in pull mode. webhook: by calling this process, which the agents of cells in pull mode must be able to reach.")
	o.serve.AddFlags(webhooks)
	o.sessions.addFlags(groups.FlagSet("sessions"))

	o.endpoints.AddFlags(groups.FlagSet("metrics and health"), "the certificate of the webhooks")
	o.webhook.features.AddFlag(groups.FlagSet("feature gates"))
}

// complete sets defaults and returns all mistakes at once.
func (o *options) complete() error {
	mistakes := []error{
		o.client.Validate(), o.endpoints.Validate(),
		component.AtLeast("concurrency", o.hub.concurrency, 1),
		component.AtLeast("project-concurrency", o.milo.projectConcurrency, 1),
		component.AtLeast("shards", o.milo.shards, 1),
		component.AtLeast("instance-type-deprecation-grace", o.hub.deprecationGrace, 0),
		component.AtLeast("cell-failover-after", o.hub.failoverAfter, 0),
		component.AtLeast("inventory-after", o.hub.inventoryAfter, time.Second),
		component.AtLeast("audit-interval", o.hub.auditInterval, 10*time.Second),
		component.AtLeast("audit-after", o.hub.auditAfter, time.Second),
		component.AtLeast("max-project-data-bytes", o.hub.maxDataBytes, 0),
	}
	mistakes = append(mistakes, checkSecretName("token-secret", o.hub.tokenSecret),
		checkSecretName("session-token-secret", o.sessions.tokenSecret))
	if o.hub.kubeconfig == "" {
		mistakes = append(mistakes, errors.New("--kubeconfig: name the kubeconfig of the karmada-apiserver"))
	}
	if o.milo.replicaName == "" {
		name, err := os.Hostname()
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("--replica-name: set it; the host name cannot be read: %w", err))
		}
		o.milo.replicaName = name
	}
	o.serve.Metrics, o.serve.MetricsCertDir, o.serve.Health = o.endpoints.Metrics, o.endpoints.MetricsCertDir, o.endpoints.Health
	o.serve.MetricsHandlers = o.endpoints.Profiles()
	if _, err := o.names.settings(); err != nil {
		mistakes = append(mistakes, err)
	}
	return errors.Join(slices.Concat(mistakes, o.milo.check(), o.webhook.check(), o.sessions.check(o.webhook.features))...)
}

// metered matches the labels of projects whose Instances need quota.
func (o *miloOptions) metered() (labels.Selector, error) {
	if !o.quota {
		return labels.Nothing(), nil
	}
	selector, err := labels.Parse(o.quotaProjects)
	if err != nil {
		return nil, fmt.Errorf("--quota-projects: %w", err)
	}
	return selector, nil
}

// check returns all mistakes.
func (o *miloOptions) check() []error {
	mistakes := append(o.checkProjects(),
		component.AtLeast("lease-duration", o.leaseDuration, 3*time.Second), component.AtLeast("project-withdrawal-after", o.withdrawAfter, 0))
	if o.idleAfter < 0 || o.idleAfter > 0 && o.idleAfter < time.Second {
		mistakes = append(mistakes, fmt.Errorf("--project-idle-after: %s is neither 0 nor at least 1s", o.idleAfter))
	}
	if o.sweep < 0 || o.sweep > 0 && o.sweep < time.Second {
		mistakes = append(mistakes, fmt.Errorf("--project-sweep: %s is neither 0 nor at least 1s", o.sweep))
	}
	if _, err := labels.Parse(o.quotaProjects); err != nil {
		mistakes = append(mistakes, fmt.Errorf("--quota-projects: %w", err))
	}
	if o.quotaProjects != "" && !o.quota {
		mistakes = append(mistakes, errors.New("--quota-projects: has no effect without --quota"))
	}
	return mistakes
}

// checkProjects returns all mistakes in the flags that select the kind of projects.
func (o *miloOptions) checkProjects() []error {
	var mistakes []error
	switch o.projects {
	case projectsOfMilo:
		if o.kubeconfig == "" {
			mistakes = append(mistakes,
				errors.New("--milo-kubeconfig: name the kubeconfig of Milo's root, or set --projects=namespaces to use the add-on without Milo"))
		}
	case projectsAreNamespaces:
		if o.kubeconfig != "" {
			mistakes = append(mistakes, errors.New("--milo-kubeconfig: has no effect with --projects=namespaces"))
		}
		if o.quota {
			mistakes = append(mistakes, errors.New("--quota: quota is claimed at Milo; remove the flag, or set --projects=milo"))
		}
	default:
		mistakes = append(mistakes, fmt.Errorf("--projects: %q is neither %s nor %s", o.projects, projectsOfMilo, projectsAreNamespaces))
	}
	return mistakes
}

// check returns all mistakes.
func (o *webhookOptions) check() []error {
	mistakes := []error{
		component.AtLeast("max-template-bytes", o.bounds.TemplateBytes, 0),
		component.AtLeast("max-city-bytes", o.bounds.CityBytes, 0),
		component.AtLeast("max-project-instances", o.projectLimit.Instances, 0),
		component.AtLeast("max-project-bytes", o.projectLimit.Bytes, 0),
	}
	if address, err := url.Parse(o.url); o.url != "" &&
		(err != nil || address.Scheme != "https" || address.Host == "" || address.User != nil) {
		mistakes = append(mistakes, fmt.Errorf("--webhook-url: %q is no URL such as https://webhooks.example.com:9443", o.url))
	}
	for flag, choice := range map[string]struct {
		value   string
		allowed []string
	}{
		"admission-mode":   {o.mode, []string{modeFail, modeIgnore, modeDryRun}},
		"interpreter-mode": {o.interpreter, []string{interpreterWebhook, interpreterCustomization}},
	} {
		if !slices.Contains(choice.allowed, choice.value) {
			mistakes = append(mistakes, fmt.Errorf("--%s: %q is not one of %s", flag, choice.value, strings.Join(choice.allowed, ", ")))
		}
	}
	if _, err := metav1.ParseToLabelSelector(o.namespaces); err != nil {
		mistakes = append(mistakes, fmt.Errorf("--admission-namespace-selector: %w", err))
	}
	return mistakes
}

// stage sets the failure policy of admission and the namespaces where it applies.
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
