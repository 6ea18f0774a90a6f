// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// options are the flags, in groups.
type options struct {
	cell      cellOptions
	pods      podOptions
	election  electionOptions
	endpoints component.Endpoints
}

type cellOptions struct {
	kubeconfig    string
	name          string
	concurrency   int
	auditInterval time.Duration
	sessionUsers  []string
	client        component.Client
}

// podOptions configure the Pods of Instances.
type podOptions struct {
	runtimeClass     string
	runtimeClasses   map[string]string
	externalClasses  []string
	capabilities     []string
	ephemeralStorage string
	annotations      []string
	nodeLossAfter    time.Duration
}

type electionOptions struct {
	enabled   bool
	namespace string
	identity  string
}

func newOptions() *options {
	return &options{
		cell: cellOptions{client: component.Client{QPS: -1, Burst: 1}},
		pods: podOptions{ephemeralStorage: "10Gi", nodeLossAfter: 30 * time.Second},
	}
}

// AddFlags adds every flag with its default.
func (o *options) AddFlags(groups *cliflag.NamedFlagSets) {
	cell := groups.FlagSet("cell")
	cell.StringVar(&o.cell.kubeconfig, "kubeconfig", "",
		"Kubeconfig of the cell. Default: the file that $KUBECONFIG names or, if $KUBECONFIG is not set, in-cluster configuration.")
	cell.StringVar(&o.cell.name, "cell", "", "Name of the cell, for the log and the user agent of requests.")
	o.cell.client.AddFlags(cell)

	controllers := groups.FlagSet("controllers")
	controllers.IntVar(&o.cell.concurrency, "concurrency", 16, "Maximum number of objects that each controller reconciles concurrently.")
	controllers.DurationVar(&o.cell.auditInterval, "audit-interval", 30*time.Second,
		"Interval of the search for Instances and Pods whose controller was deleted and that the garbage collector of the cell has missed.")
	controllers.StringSliceVar(&o.cell.sessionUsers, "session-users", nil,
		"Users that Karmada's proxy makes requests for InstanceSessions as. The agent grants them ClusterRole "+
			"karmada-compute-cell-streams in the namespaces of projects. Default: none.")

	pods := groups.FlagSet("pods")
	pods.StringVar(&o.pods.runtimeClass, "runtime-class", "",
		"RuntimeClass of Pods whose template names no class, for example gvisor. Default: the runtime of the cluster.")
	pods.StringToStringVar(&o.pods.runtimeClasses, "runtime-classes", nil,
		"Classes that templates may name in spec.runtime.class and their RuntimeClasses in this cell, such as isolated=kata. "+
			"Instances of other classes are not started: their conditions have reason RuntimeClassNotServed.")
	pods.StringSliceVar(&o.pods.externalClasses, "external-runtime-classes", nil,
		"Classes that templates may name in spec.runtime.class and that another runtime in this cell runs, such as "+
			"virtual-machine. The agent creates no Pods for Instances of these classes.")
	pods.StringSliceVar(&o.pods.capabilities, "capabilities", slices.Clone(templates.DefaultCapabilities),
		"Capabilities that containers keep; all others are dropped. Common images that start as root need the default. Only "+
			"capabilities of the baseline Pod security standard are allowed.")
	pods.StringSliceVar(&o.pods.annotations, "pod-annotations", nil,
		"Domains of annotations and labels of templates that are put on Pods, such as prometheus.io. Annotations and labels "+
			"whose keys have no domain, and labels of app.kubernetes.io, always are. Runtimes, network plugins and admission in a "+
			"cell read annotations and labels: allow no domain of theirs.")
	pods.StringVar(&o.pods.ephemeralStorage, "ephemeral-storage-limit", o.pods.ephemeralStorage,
		"Ephemeral storage limit of each container, logs included, unless its template sets another limit. 0: no limit.")
	pods.DurationVar(&o.pods.nodeLossAfter, "node-loss-after", o.pods.nodeLossAfter,
		"How long a node may be unreachable or not ready before its Instances start on other nodes: tolerationSeconds of Pods "+
			"that are created from now on. Instances whose template has onNodeLoss Wait do not move.")

	election := groups.FlagSet("leader election")
	election.BoolVar(&o.election.enabled, "leader-elect", true, "Use leader election, so that only one of several replicas is active.")
	election.StringVar(&o.election.namespace, "leader-elect-resource-namespace", "karmada-compute-system",
		"Namespace of the Lease for leader election.")
	election.StringVar(&o.election.identity, "leader-elect-identity", "",
		"Holder of the Lease. A process that starts with the identity of a killed process becomes leader at once, so the "+
			"identity of each running process must be unique: use name and UID of the Pod. Default: the host name and a random suffix.")

	o.endpoints.AddFlags(groups.FlagSet("metrics and health"), "a self-signed certificate")
}

// Validate returns all errors at once.
func (o *options) Validate() error {
	mistakes := []error{
		o.cell.client.Validate(), o.endpoints.Validate(),
		component.AtLeast("concurrency", o.cell.concurrency, 1), component.AtLeast("audit-interval", o.cell.auditInterval, time.Second),
	}
	if o.pods.nodeLossAfter < 0 || o.pods.nodeLossAfter%time.Second != 0 {
		mistakes = append(mistakes, fmt.Errorf("--node-loss-after: %s is not a number of seconds", o.pods.nodeLossAfter))
	}
	if o.election.enabled {
		for _, problem := range validation.IsDNS1123Label(o.election.namespace) {
			mistakes = append(mistakes, fmt.Errorf("--leader-elect-resource-namespace: %q: %s", o.election.namespace, problem))
		}
	}
	if strings.ContainsAny(o.cell.name, " \t\r\n") {
		mistakes = append(mistakes, fmt.Errorf("--cell: %q has white space in it", o.cell.name))
	}
	_, err := o.pods.settings()
	return errors.Join(append(mistakes, err)...)
}

// settings returns the settings of the runtime, or every mistake.
func (o *podOptions) settings() (runtime.Settings, error) {
	settings := runtime.Settings{
		RuntimeClass: o.runtimeClass, RuntimeClasses: o.runtimeClasses, ExternalClasses: o.externalClasses, NodeLossAfter: o.nodeLossAfter,
	}
	var mistakes []error
	for _, capability := range o.capabilities {
		if !slices.Contains(templates.BaselineCapabilities, capability) {
			mistakes = append(mistakes, fmt.Errorf("--capabilities: %q is not one of %s",
				capability, strings.Join(templates.BaselineCapabilities, ", ")))
		}
		settings.Capabilities = append(settings.Capabilities, corev1.Capability(capability))
	}
	classes := map[string]string{"--runtime-class": o.runtimeClass}
	for class, mapped := range o.runtimeClasses {
		for _, problem := range validation.IsDNS1123Label(class) {
			mistakes = append(mistakes, fmt.Errorf("--runtime-classes: class %q: %s", class, problem))
		}
		if classes["--runtime-classes: "+class] = mapped; mapped == "" {
			mistakes = append(mistakes, fmt.Errorf("--runtime-classes: class %s has no RuntimeClass", class))
		}
	}
	for _, class := range o.externalClasses {
		for _, problem := range validation.IsDNS1123Label(class) {
			mistakes = append(mistakes, fmt.Errorf("--external-runtime-classes: %q: %s", class, problem))
		}
		if _, both := o.runtimeClasses[class]; both {
			mistakes = append(mistakes,
				fmt.Errorf("--external-runtime-classes: %s has a RuntimeClass in --runtime-classes as well; remove it from one of them", class))
		}
	}
	for flag, name := range classes {
		if name == "" {
			continue
		}
		for _, problem := range validation.IsDNS1123Subdomain(name) {
			mistakes = append(mistakes, fmt.Errorf("%s: %q: %s", flag, name, problem))
		}
	}
	settings.PodAnnotations = o.annotations
	mistakes = append(mistakes, o.checkAnnotations())
	limit, err := resource.ParseQuantity(o.ephemeralStorage)
	if err != nil || limit.Sign() < 0 {
		mistakes = append(mistakes, fmt.Errorf("--ephemeral-storage-limit: %q is no size such as 10Gi", o.ephemeralStorage))
	}
	settings.EphemeralStorage = limit
	return settings, errors.Join(mistakes...)
}

// checkAnnotations returns every mistake in the domains of annotations.
func (o *podOptions) checkAnnotations() error {
	var mistakes []error
	for _, domain := range o.annotations {
		for _, problem := range validation.IsDNS1123Subdomain(domain) {
			mistakes = append(mistakes, fmt.Errorf("--pod-annotations: %q: %s", domain, problem))
		}
		if domain == v1alpha.GroupVersion.Group {
			mistakes = append(mistakes, fmt.Errorf("--pod-annotations: annotations of %s are the add-on's own", domain))
		}
	}
	return errors.Join(mistakes...)
}
