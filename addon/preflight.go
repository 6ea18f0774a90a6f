// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// cityLabel is the label of a Cluster that turns it into a cell of a city.
	cityLabel = "topology.datum.net/city-code"
	// oldestKarmada and newestKarmada are the range of versions on which the core scenarios have run
	// (docs/reference/versions.md).
	oldestKarmada, newestKarmada = "1.16.0", "1.18"
	// defaultAPIRate is karmada-controller-manager's --kube-api-qps where it is not set.
	defaultAPIRate = 40.0
	// callsPerDeployment is the approximate number of requests by which Karmada propagates one object.
	callsPerDeployment = 7.5
)

// findings are the results of preflight: failures, which end it, and warnings.
type findings struct {
	failures []error
	warnings []string
}

func (f *findings) fail(format string, args ...any) {
	f.failures = append(f.failures, fmt.Errorf(format, args...))
}

func (f *findings) warn(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
}

// print writes the warnings, and returns all failures as one error.
func (f *findings) print(out io.Writer) error {
	for _, warning := range f.warnings {
		fmt.Fprintf(out, "  warning: %s\n", warning)
	}
	if len(f.failures) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was changed, because:\n  %w", joined(f.failures))
}

// joined puts each error on a separate line, indented.
func joined(failures []error) error {
	lines := make([]string, 0, len(failures))
	for _, failure := range failures {
		lines = append(lines, "- "+failure.Error())
	}
	return errors.New(strings.Join(lines, "\n  "))
}

// preflight checks the requirements of enable on the servers, and changes nothing.
func (s *session) preflight(ctx context.Context) *findings {
	f := &findings{}
	if s.reachable(f, s.host) {
		s.checkNamespace(ctx, f)
		s.checkRights(ctx, f, s.host, s.hostRights())
		s.checkKarmadaVersion(ctx, f)
		s.checkTokens(ctx, f)
	}
	if s.reachable(f, s.hub) {
		s.checkKarmada(f)
		s.checkRights(ctx, f, s.hub, append(hubRights, clusterRights...))
		s.checkClusters(ctx, f)
		s.checkConsumers(ctx, f)
		s.checkHubNamespaces(ctx, f)
		s.checkRetention(ctx, f)
	}
	if isWithoutMilo(s.values) {
		return f
	}
	if s.reachable(f, s.milo) {
		s.checkRights(ctx, f, s.milo, clusterRights)
		s.checkMiloKinds(f)
	}
	if s.reachable(f, s.miloUser) {
		s.checkMilo(ctx, f)
	}
	if separatesWebhooks(s.values) && s.reachable(f, s.miloWebhook) {
		s.checkMiloOfWebhooks(ctx, f)
	}
	return f
}

func (*session) reachable(f *findings, p *plane) bool {
	kinds, err := discovery.NewDiscoveryClientForConfig(p.config)
	if err == nil {
		_, err = kinds.ServerVersion()
	}
	if err != nil {
		f.fail("%s does not answer: %w", p.name, err)
	}
	return err == nil
}

// checkNamespace checks that the host has the namespace of Karmada, in which the first object is written.
func (s *session) checkNamespace(ctx context.Context, f *findings) {
	name := s.options.karmada.namespace
	switch err := s.host.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{}); {
	case apierrors.IsNotFound(err):
		f.fail("the host has no namespace %s: set --namespace to the one in which Karmada's Pods run, or --kubeconfig to the "+
			"kubeconfig of their cluster", name)
	case apierrors.IsForbidden(err):
		f.warn("whether the host has namespace %s is not known, because you may not get it", name)
	case err != nil:
		f.fail("read namespace %s of the host: %w", name, err)
	}
}

// right is a permission that enable needs.
type right struct{ group, resource, verb, namespace string }

// attributes of a right, whose resource may have a subresource.
func (r right) attributes() *authorizationv1.ResourceAttributes {
	resource, subresource, _ := strings.Cut(r.resource, "/")
	return &authorizationv1.ResourceAttributes{
		Group: r.group, Resource: resource, Subresource: subresource, Verb: r.verb, Namespace: r.namespace,
	}
}

// clusterRights are the permissions that enable needs on the hub and at Milo's root.
var clusterRights = []right{
	{"apiextensions.k8s.io", "customresourcedefinitions", "patch", ""},
	{"rbac.authorization.k8s.io", "clusterroles", "patch", ""},
	{"rbac.authorization.k8s.io", "clusterroles", "escalate", ""},
	{"rbac.authorization.k8s.io", "clusterrolebindings", "patch", ""},
}

// hubRights are the additional permissions that enable needs on the hub.
var hubRights = []right{
	{"", "serviceaccounts/token", "create", hubNamespace},
	{"admissionregistration.k8s.io", "validatingadmissionpolicies", "patch", ""},
	{"admissionregistration.k8s.io", "validatingadmissionpolicybindings", "patch", ""},
}

func (s *session) hostRights() []right {
	namespace := s.options.karmada.namespace
	return []right{
		{"apps", "deployments", "patch", namespace},
		{"", "services", "patch", namespace},
		{"", "secrets", "patch", namespace},
		{"", "serviceaccounts", "patch", namespace},
		{"", "configmaps", "patch", namespace},
		{"rbac.authorization.k8s.io", "roles", "patch", namespace},
		{"rbac.authorization.k8s.io", "rolebindings", "patch", namespace},
	}
}

func (*session) checkRights(ctx context.Context, f *findings, p *plane, rights []right) {
	for _, r := range rights {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: r.attributes(),
		}}
		if err := p.Create(ctx, review); err != nil {
			f.fail("cannot find out whether you may %s %s at %s: %w", r.verb, r.resource, p.name, err)
		} else if !review.Status.Allowed {
			f.fail("you may not %s %s at %s: use a kubeconfig of an administrator", r.verb, r.resource, p.name)
		}
	}
}

// checkKarmada checks that the hub serves Karmada's APIs.
func (s *session) checkKarmada(f *findings) {
	kinds, err := discovery.NewDiscoveryClientForConfig(s.hub.config)
	if err != nil {
		f.fail("%s: %w", s.hub.name, err)
		return
	}
	for _, group := range []string{
		"cluster.karmada.io/v1alpha1", "work.karmada.io/v1alpha2", "policy.karmada.io/v1alpha1", "config.karmada.io/v1alpha1",
	} {
		if _, err := kinds.ServerResourcesForGroupVersion(group); err != nil {
			f.fail("%s does not serve %s: does --karmada-kubeconfig lead to a healthy karmada-apiserver? %w", s.hub.name, group, err)
		}
	}
}

// checkKarmadaVersion reads version and API rate from the Deployment of karmada-controller-manager.
func (s *session) checkKarmadaVersion(ctx context.Context, f *findings) {
	deployments := &appsv1.DeploymentList{}
	if err := s.host.List(ctx, deployments, client.InNamespace(s.options.karmada.namespace)); err != nil {
		f.fail("read the Deployments of Karmada: %w", err)
		return
	}
	for i := range deployments.Items {
		deployment := &deployments.Items[i]
		if !strings.HasSuffix(deployment.Name, "karmada-controller-manager") || len(deployment.Spec.Template.Spec.Containers) == 0 {
			continue
		}
		container := deployment.Spec.Template.Spec.Containers[0]
		s.karmadaVersion = checkVersion(f, container.Image)
		args := slices.Concat(container.Command, container.Args)
		checkRate(f, args)
		checkEvictions(f, args)
		return
	}
	f.warn("namespace %s of the host has no Deployment karmada-controller-manager, so Karmada's version and API rate are "+
		"not known; the add-on was tested with Karmada %s to %s",
		s.options.karmada.namespace, oldestKarmada, newestKarmada)
}

// checkVersion returns the version in an image of Karmada, nil if it cannot be read.
func checkVersion(f *findings, image string) *version.Version {
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	tag, _, _ = strings.Cut(tag, "@")
	found, err := version.ParseGeneric(tag)
	if err != nil {
		f.warn("the version of Karmada cannot be read from image %s; the add-on was tested with %s to %s", image, oldestKarmada, newestKarmada)
		return nil
	}
	newest := version.MustParseGeneric(newestKarmada)
	switch {
	case found.LessThan(version.MustParseGeneric(oldestKarmada)):
		f.fail("Karmada is %s; upgrade it to %s or newer", tag, oldestKarmada)
	case found.Major() > newest.Major() || found.Major() == newest.Major() && found.Minor() > newest.Minor():
		f.warn("Karmada is %s; the add-on was tested with %s to %s", tag, oldestKarmada, newestKarmada)
	}
	return found
}

func checkRate(f *findings, args []string) {
	rate := defaultAPIRate
	for _, arg := range args {
		if value, found := strings.CutPrefix(arg, "--kube-api-qps="); found {
			if parsed, err := strconv.ParseFloat(value, 64); err == nil {
				rate = parsed
			}
		}
	}
	if rate > 0 && rate <= defaultAPIRate {
		f.warn("karmada-controller-manager sends %g requests a second at most, which is about %.0f new deployments a second; "+
			"raise its --kube-api-qps and --kube-api-burst",
			rate, rate/callsPerDeployment)
	}
}

// checkClusters names the Clusters that no Workload can run on.
func (s *session) checkClusters(ctx context.Context, f *findings) {
	clusters, err := s.hub.list(ctx, "cluster.karmada.io/v1alpha1", "Cluster")
	if err != nil {
		f.fail("%w", err)
		return
	}
	s.checkCellUsers(ctx, f, clusters)
	s.checkTrust(ctx, f, clusters)
	var without []string
	for i := range clusters {
		if clusters[i].GetLabels()[cityLabel] == "" {
			without = append(without, clusters[i].GetName())
		}
	}
	switch {
	case len(clusters) == 0:
		f.warn("no cluster has joined Karmada; when one does, label it: kubectl label cluster <name> %s=<city>", cityLabel)
	case len(without) > 0:
		f.warn("no Workload runs on %s, which has no city; label it: kubectl label cluster <name> %s=<city>",
			strings.Join(without, ", "), cityLabel)
	}
}

// checkMilo checks the requests that the add-on itself will send to Milo.
func (s *session) checkMilo(ctx context.Context, f *findings) {
	projects := &unstructured.UnstructuredList{}
	projects.SetAPIVersion("resourcemanager.miloapis.com/v1alpha1")
	projects.SetKind("ProjectList")
	if err := s.milo.List(ctx, projects, client.Limit(1)); err != nil {
		f.fail("Projects cannot be listed at %s: is it the kubeconfig of Milo's root? %w", s.milo.name, err)
	}
	if err := portable(s.options.miloKubeconfig); err != nil {
		f.fail("--milo-kubeconfig: %w", err)
	}
	var err error
	if s.miloUserName, err = whoIs(ctx, s.miloUser, "milo-kubeconfig"); err != nil {
		f.fail("%w", err)
	}
}

// checkMiloOfWebhooks checks that Pods that serve webhooks only are another user at Milo than the controllers.
func (s *session) checkMiloOfWebhooks(ctx context.Context, f *findings) {
	if err := portable(s.options.miloWebhookKubeconfig); err != nil {
		f.fail("--milo-webhook-kubeconfig: %w", err)
	}
	var err error
	if s.miloWebhookName, err = whoIs(ctx, s.miloWebhook, "milo-webhook-kubeconfig"); err != nil {
		f.fail("%w", err)
	} else if s.miloWebhookName == s.miloUserName {
		f.fail("--milo-webhook-kubeconfig is user %q, whom --milo-kubeconfig is, too: whoever takes it from a Pod that serves "+
			"webhooks only could do at Milo what the controllers do",
			s.miloWebhookName)
	}
}

// miloKind is a kind that the add-on reads or writes in projects, and that it does not install.
type miloKind struct {
	version, resource string
	// without is the consequence if Milo does not serve the kind.
	without string
	// optional reports that the add-on works without the kind.
	optional bool
	// needed reports whether the values enable a feature that needs the kind. Nil: it is always needed.
	needed func(values map[string]any) bool
}

// miloKinds are listed in docs/how-to/install.md, too.
var miloKinds = []miloKind{
	{
		version: "networking.datumapis.com/v1alpha", resource: "locationbindings",
		without: "no project has a location, and every Workload is refused",
	},
	{
		version: "networking.datumapis.com/v1alpha", resource: "networks", optional: true,
		without: "Workloads may name networks that do not exist",
	},
	{
		version: "networking.datumapis.com/v1alpha", resource: "networkbindings", optional: true,
		without: "Instances do not wait for their networks",
		needed:  func(values map[string]any) bool { return isOn(values, "featureGates", "NetworkBinding") },
	},
	{
		version: "quota.miloapis.com/v1alpha1", resource: "resourceclaims",
		without: "no Instance is granted quota, and none starts",
		needed:  func(values map[string]any) bool { return isOn(values, "controllers", "quota", "enabled") },
	},
}

// isOn reports whether a value of the chart that is off by default is on.
func isOn(values map[string]any, path ...string) bool {
	on, _, err := unstructured.NestedBool(values, path...)
	return on && err == nil
}

// checkMiloKinds checks that Milo serves the kinds that an operator installs there. All projects serve the kinds of
// Milo's root.
func (s *session) checkMiloKinds(f *findings) {
	kinds, err := discovery.NewDiscoveryClientForConfig(s.milo.config)
	if err != nil {
		f.fail("%s: %w", s.milo.name, err)
		return
	}
	for _, kind := range miloKinds {
		if kind.needed != nil && !kind.needed(s.values) {
			continue
		}
		served, err := serves(kinds, kind)
		const missing = "%s does not serve %s of %s, so that %s; install its CustomResourceDefinition there, see " +
			"docs/how-to/install.md#what-milo-must-serve"
		switch {
		case err != nil:
			f.fail("cannot find out whether %s serves %s of %s: %w", s.milo.name, kind.resource, kind.version, err)
		case !served && kind.optional:
			f.warn(missing, s.milo.name, kind.resource, kind.version, kind.without)
		case !served:
			f.fail(missing, s.milo.name, kind.resource, kind.version, kind.without)
		}
	}
}

// serves reports whether an API server serves a kind.
func serves(kinds discovery.ServerResourcesInterface, kind miloKind) (bool, error) {
	list, err := kinds.ServerResourcesForGroupVersion(kind.version)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == kind.resource }), nil
}
