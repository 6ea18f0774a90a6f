// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/interpreter/customization"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/webhook"
	"github.com/karmada-compute/karmada-compute/webhook/registration"
	"github.com/karmada-compute/karmada-compute/webhook/rotation"
	"github.com/karmada-compute/karmada-compute/webhook/rotation/certificates"
	"github.com/karmada-compute/karmada-compute/webhook/rotation/paths"
	"github.com/karmada-compute/karmada-compute/webhook/server"
)

const (
	// service is the Service of the webhooks, for callers in the same cluster. The webhook configurations name it.
	service = "karmada-compute-webhook"
	// registrationInterval is the resync period of the webhook configurations.
	registrationInterval = 10 * time.Second
)

// access holds the certificates, paths and registrations for callers of the webhooks.
type access struct {
	certificates server.Certificates
	// paths is nil without webhooks.
	paths server.Paths
	// exposed reports that callers have seen that no replica answers. It is nil without webhooks.
	exposed func()
	// register keeps the webhooks registered. It is nil with --register-webhooks=false.
	register func(context.Context) error
	// bundle returns the CAs of the certificates, in PEM.
	bundle func(context.Context) ([]byte, error)
}

// access returns how the webhooks are reached.
func (a *app) access(p *planes) (*access, error) {
	r := &registration.Registration{
		URL: a.options.webhook.url, Users: a.users.get, Condition: webhook.ConditionNotAddOn,
		Interval: registrationInterval, Clock: clock.RealClock{}, Log: ctrl.Log.WithName("registration"),
	}
	if err := a.options.webhook.stage(r); err != nil {
		return nil, err
	}
	var err error
	if a.options.webhook.register {
		if r.Targets, err = a.targets(p); err != nil {
			return nil, err
		}
	}
	// Nothing has to be discovered for Secrets.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	secrets, err := client.New(p.hub, client.Options{Scheme: p.scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("make a client for the hub: %w", err)
	}
	result := &access{}
	if len(a.builder.Webhooks()) > 0 {
		keeper, err := a.paths(secrets, r)
		if err != nil {
			return nil, err
		}
		result.paths, r.Paths = keeper, keeper
		result.exposed = func() { keeper.Expose(paths.CauseStart) }
	}
	if result.certificates, err = a.source(secrets, r); err != nil {
		return nil, err
	}
	if len(r.Targets) > 0 {
		result.register = r.Start
	}
	result.bundle = r.Bundle
	return result, nil
}

// paths creates unguessable paths of the webhooks: Milo and Karmada have no credentials to present.
func (a *app) paths(secrets client.Client, r *registration.Registration) (*paths.Keeper, error) {
	options := paths.Options{
		Store:    a.store(secrets, a.options.webhook.pathSecret, "paths"),
		Plain:    a.builder.Paths(),
		Lifetime: a.options.webhook.pathLifetime,
		Spacing:  a.options.webhook.pathSpacing,
	}
	if len(r.Targets) > 0 {
		options.Carried = r.Carries
	}
	return paths.New(options)
}

// source returns the certificates in --webhook-cert-dir or, if it is not set, the certificates of the add-on's own CA.
func (a *app) source(secrets client.Client, r *registration.Registration) (server.Certificates, error) {
	if dir := a.options.webhook.certDir; dir != "" {
		r.Bundle = func(context.Context) ([]byte, error) { return fs.ReadFile(os.DirFS(dir), "ca.crt") }
		return certificates.NewFiles(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), metrics.Registry)
	}
	trusted := r.Trusted
	if len(r.Targets) == 0 {
		trusted = func(context.Context, []byte) (bool, error) { return false, rotation.ErrUnknown }
	}
	authority, err := certificates.New(certificates.Options{
		Store:      a.store(secrets, a.options.webhook.caSecret, "certificates"),
		Names:      a.names(),
		CALifetime: a.options.webhook.caLifetime,
		Trusted:    trusted,
	})
	if err != nil {
		return nil, err
	}
	r.Bundle, r.Changed = func(ctx context.Context) ([]byte, error) {
		if err := authority.Ensure(ctx); err != nil {
			return nil, err
		}
		return authority.Bundle(), nil
	}, authority.Changed()
	return authority, nil
}

// store is a Secret on the hub that all replicas share.
func (a *app) store(secrets client.Client, name, log string) rotation.Store {
	return rotation.Store{
		Client:     secrets,
		Secret:     types.NamespacedName{Namespace: a.options.hub.namespace, Name: name},
		Delay:      a.options.webhook.trustDelay,
		Registerer: metrics.Registry,
		Log:        ctrl.Log.WithName(log),
	}
}

// names are the host names of the webhooks.
func (a *app) names() []string {
	host := service + "." + a.options.hub.namespace
	names := []string{"localhost", host, host + ".svc"}
	if address, err := url.Parse(a.options.webhook.url); err == nil && address.Hostname() != "" {
		names = append(names, address.Hostname())
	}
	if address, err := url.Parse(a.options.sessions.url); err == nil && address.Hostname() != "" {
		names = append(names, address.Hostname())
	}
	return names
}

// admissionTarget is Milo's root, from where admission applies to every project, or the hub with its namespaces.
func (p *planes) admissionTarget() (registration.Target, error) {
	if p.namespaces == nil {
		return newTarget("Milo's root", p.milo, webhook.Configuration)
	}
	configuration, err := webhook.NamespacesConfiguration()
	if err != nil {
		return registration.Target{}, err
	}
	return newTarget("the hub", p.hub, configuration)
}

// targets are the control planes where the selected webhooks are registered: admission where the projects are, and the
// interpreter on the hub.
func (a *app) targets(p *planes) ([]registration.Target, error) {
	selected := a.builder.Webhooks()
	isInterpreter := func(w server.Webhook) bool { return w.Name == interpreterName }
	isAdmission := func(w server.Webhook) bool { return w.Name != interpreterName }
	var targets []registration.Target
	if slices.ContainsFunc(selected, isAdmission) {
		target, err := p.admissionTarget()
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	}
	if slices.ContainsFunc(selected, isInterpreter) {
		target, err := a.interpreterTarget(p)
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// interpreterTarget registers the interpreter in the mode of --interpreter-mode and removes it in the other: with both,
// Karmada would use the customization.
func (a *app) interpreterTarget(p *planes) (registration.Target, error) {
	called, err := policies.Files.ReadFile("interpreter.yaml")
	if err != nil {
		return registration.Target{}, err
	}
	wanted, superseded := called, customization.YAML
	if a.options.webhook.interpreter == interpreterCustomization {
		wanted, superseded = superseded, wanted
	}
	target, err := newTarget("the hub", p.hub, wanted, superseded)
	if err != nil {
		return registration.Target{}, err
	}
	target.Superseded, err = registration.Decode(superseded)
	return target, err
}

// newTarget is a target of the configurations in content. Its client maps the kinds in others, too.
func newTarget(name string, config *rest.Config, content []byte, others ...[]byte) (registration.Target, error) {
	configurations, err := registration.Decode(content)
	if err != nil {
		return registration.Target{}, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, content := range append(others, content) {
		known, err := registration.Decode(content)
		if err != nil {
			return registration.Target{}, err
		}
		for _, configuration := range known {
			mapper.Add(configuration.GroupVersionKind(), meta.RESTScopeRoot)
		}
	}
	c, err := client.New(config, client.Options{Scheme: runtime.NewScheme(), Mapper: mapper})
	if err != nil {
		return registration.Target{}, fmt.Errorf("make a client for %s: %w", name, err)
	}
	return registration.Target{Name: name, Client: c, Configurations: configurations}, nil
}

// aloneTimeout bounds the question whether another replica answers. A replica starts that much later at most.
const aloneTimeout = time.Second

// alone reports whether callers of the webhooks reach no other replica. It must be asked before this one listens.
func (a *app) alone(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aloneTimeout)
	defer cancel()
	// Nothing is sent or read: any answer is enough.
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}} //nolint:gosec // see above
	conn, err := dialer.DialContext(ctx, "tcp", a.calledAt())
	if err != nil {
		return true
	}
	_ = conn.Close() // it was not used
	return false
}

// calledAt is the address of the webhooks for their callers.
func (a *app) calledAt() string {
	if address, err := url.Parse(a.options.webhook.url); err == nil && address.Host != "" {
		if address.Port() != "" {
			return address.Host
		}
		return net.JoinHostPort(address.Hostname(), "443")
	}
	return net.JoinHostPort(service+"."+a.options.hub.namespace+".svc", "443")
}
