// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/hub"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
	"github.com/karmada-compute/karmada-compute/interpreter"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/milo/marks"
	"github.com/karmada-compute/karmada-compute/namespaces"
	"github.com/karmada-compute/karmada-compute/webhook"
	"github.com/karmada-compute/karmada-compute/webhook/server"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// name is the name of this program, also in the user agent.
const name = "karmada-compute"

// app is the process. Controllers and webhooks are registered before the flags are parsed; their dependencies are set
// after.
type app struct {
	options  options
	builder  server.Builder[hub.Target]
	projects *admissionProjects
	users    *addOnUsers
	types    *admissionTypes
	// workloads reviews Workloads.
	workloads *webhook.Workloads
	// sessions reviews InstanceSessions.
	sessions *webhook.Sessions
	// label reviews the label of projects that are namespaces.
	label *webhook.ProjectLabel
}

func newApp() *app {
	// No limit on the client's side: the API servers' priority and fairness limits requests.
	a := &app{
		options: options{client: component.Client{QPS: -1, Burst: 1}}, projects: &admissionProjects{}, users: &addOnUsers{},
		types: &admissionTypes{},
	}
	a.options.webhook.features = webhook.NewFeatureGate()
	hub.AddFeatures(a.options.webhook.features)
	for _, controller := range hub.Controllers() {
		a.builder.RegisterController(controller.Name, controller.Setup)
	}
	a.workloads = &webhook.Workloads{
		Projects: a.projects, Types: a.types, Features: a.options.webhook.features, Proved: server.Authenticated, Users: a.users.get,
	}
	a.sessions = &webhook.Sessions{
		Projects: a.projects, Proved: server.Authenticated, Features: a.options.webhook.features, Writers: a.sessionWriters,
	}
	a.label = &webhook.ProjectLabel{}
	a.builder.
		RegisterAdmission("workloads", webhook.ValidatePath, a.workloads).
		RegisterAdmission("owned", webhook.OwnedPath, &webhook.Owned{Users: a.users.get}).
		RegisterAdmission("namespaces", webhook.NamespacePath, a.label).
		RegisterAdmission(sessionsName, webhook.SessionPath, a.sessions).
		RegisterWebhook(server.Webhook{Name: interpreterName, Path: interpreter.Path, Handler: interpreter.NewHandler()})
	return a
}

// AddFlags adds every flag with its default.
func (a *app) AddFlags(groups *cliflag.NamedFlagSets) {
	a.options.addFlags(groups)
	a.builder.AddFlags(groups.FlagSet("controllers"), groups.FlagSet("webhooks"))
}

// Validate sets defaults and returns every mistake.
func (a *app) Validate() error {
	return errors.Join(a.options.complete(), a.builder.Complete(), a.checkStreams())
}

// interpreterName is the interpreter's name in --webhooks.
const interpreterName = "interpreter"

// projectWatch watches the Projects: once for a process, whatever needs it.
type projectWatch interface {
	AddHandler(handler milo.ProjectHandler)
	Start(ctx context.Context) error
}

// planes are the control planes that the process connects to.
type planes struct {
	hub, milo *rest.Config
	scheme    *runtime.Scheme
	lookup    *milo.Lookup
	// locations are the locations of projects, for controllers.
	locations milo.Locations
	// patience is shared by every informer for Milo, nil without Milo. watch is the one watch of the Projects.
	patience *milo.Patience
	watch    projectWatch
	// namespaces are the projects without Milo. Nil: the projects are at Milo.
	namespaces *namespaces.Planes
	// types are the instance types of the hub, for admission and controllers.
	types *instancetypes.Catalogue
	// marks are the marks of projects with Workloads, on the hub. Nil: all projects are watched, or projects are
	// namespaces.
	marks *marks.Marks
}

func (a *app) connect() (*planes, error) {
	p := &planes{}
	var err error
	if p.hub, err = a.loadConfig(a.options.hub.kubeconfig); err != nil {
		return nil, err
	}
	if p.scheme, err = newScheme(); err != nil {
		return nil, err
	}
	if a.projects.metered, err = a.options.milo.metered(); err != nil {
		return nil, err
	}
	if a.options.milo.projects == projectsAreNamespaces {
		err = a.connectNamespaces(p)
	} else {
		err = a.connectMilo(p)
	}
	if err != nil {
		return nil, err
	}
	a.projects.lookup = p.lookup
	a.workloads.Bounds, a.workloads.ProjectLimit = a.options.webhook.bounds, a.options.webhook.projectLimit
	names, err := a.options.names.settings()
	if err != nil {
		return nil, err
	}
	a.workloads.Names = validation.Names{Rules: names.Rules, TTL: names.TTL}
	reader, err := client.New(p.hub, client.Options{Scheme: p.scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for the hub: %w", err)
	}
	a.workloads.Lacking = cells.LackingBySettings(reader)
	a.workloads.AdmitsRefused = a.options.webhook.mode != modeFail
	a.users.set(a.options.webhook.users, p.lookup)
	if p.types, err = newCatalogue(p.hub, p.scheme, a.options.hub.deprecationGrace); err != nil {
		return nil, err
	}
	a.types.catalogue, a.types.byDefault = p.types, a.options.hub.defaultType
	return p, nil
}

// connectMilo fills in the parts that depend on Milo.
func (a *app) connectMilo(p *planes) (err error) {
	if p.milo, err = a.loadConfig(a.options.milo.kubeconfig); err != nil {
		return err
	}
	kind, err := milo.NewLocationKind(milo.LocationKindOptions{
		Root: p.milo, Clock: clock.RealClock{}, Registerer: metrics.Registry, Log: ctrl.Log.WithName("milo"),
	})
	if err != nil {
		return err
	}
	p.locations = milo.Locations{Kind: kind}
	if p.lookup, err = milo.NewLookup(milo.LookupOptions{
		Root: p.milo, Clock: clock.RealClock{}, Registerer: metrics.Registry, LocationKind: kind,
	}); err != nil {
		return err
	}
	if p.patience, err = milo.NewPatience(milo.PatienceOptions{
		Root: p.milo, Clock: clock.RealClock{}, Log: ctrl.Log.WithName("milo"), LocationKind: kind,
	}); err != nil {
		return err
	}
	p.watch = milo.NewWatch(p.milo, p.patience, a.projects.metered, p.lookup)
	return a.mark(p)
}

// connectNamespaces fills in the parts for projects that are namespaces of the hub.
func (a *app) connectNamespaces(p *planes) (err error) {
	log := ctrl.Log.WithName("namespaces")
	if p.namespaces, err = namespaces.New(namespaces.Options{Hub: p.hub, Scheme: p.scheme, Log: log}); err != nil {
		return err
	}
	if p.lookup, err = milo.NewLookup(milo.LookupOptions{
		Planes: p.namespaces, Clock: clock.RealClock{}, Registerer: metrics.Registry,
	}); err != nil {
		return err
	}
	p.watch = namespaces.NewWatch(p.namespaces, log, p.lookup)
	scope := webhook.Namespaces{Eligible: namespaces.Eligible}
	a.workloads.Scope, a.sessions.Scope, a.projects.onlyReady = scope, scope, true
	a.label.Hub, a.label.Eligible = p.namespaces.Root(), namespaces.Eligible
	return nil
}

// mark lets admission inform the controllers of projects that are about to have Workloads, unless all projects are
// watched.
func (a *app) mark(p *planes) (err error) {
	if a.options.milo.idleAfter <= 0 {
		return nil
	}
	if p.marks, err = marks.New(marks.Options{
		Hub: p.hub, Namespace: a.options.hub.namespace, Clock: clock.RealClock{}, Registerer: metrics.Registry, Log: ctrl.Log.WithName("marks"),
	}); err != nil {
		return err
	}
	a.workloads.Marks = p.marks
	return nil
}

// startMarks is nil without marks.
func (p *planes) startMarks() func(context.Context) error {
	if p.marks == nil {
		return nil
	}
	return p.marks.Start
}

// run runs the selected controllers and webhooks until ctx ends.
func (a *app) run(ctx context.Context) error {
	p, err := a.connect()
	if err != nil {
		return err
	}
	a.options.serve.Delegate = p.hub
	a.builder.DryRun, a.builder.Ignore = a.options.webhook.mode == modeDryRun, a.options.webhook.mode == modeIgnore
	if err := a.options.serve.Complete(); err != nil {
		return err
	}
	access, err := a.access(p)
	if err != nil {
		return err
	}
	serveSessions, err := a.serveSessions(p, access)
	if err != nil {
		return err
	}
	renewals, err := a.renewals(p)
	if err != nil {
		return err
	}
	s := &server.Server{
		Options:      a.options.serve,
		Webhooks:     a.builder.Webhooks(),
		Certificates: access.certificates,
		Paths:        access.paths,
		Probe:        p.lookup.Probe,
		Background:   inBackground(append(renewals, a.background(p, access, serveSessions))...),
		Streams:      serveSessions != nil && a.options.sessions.streams != streamsElsewhere,
		Registerer:   metrics.Registry,
		Clock:        clock.RealClock{},
		Log:          ctrl.Log.WithName("server"),
	}
	if a.builder.Controllers() {
		var begun atomic.Bool
		s.ControllersBegun = begun.Load
		if s.Controllers, err = a.controllers(p, &begun); err != nil {
			return err
		}
	}
	if access.exposed != nil && a.alone(ctx) {
		access.exposed()
	}
	return s.Run(ctx)
}

// background runs what the process needs besides webhooks and controllers. A process that only carries streams asks the
// hub and the projects for each stream, and watches nothing.
func (a *app) background(p *planes, access *access, serveSessions func(context.Context) error) func(context.Context) error {
	if a.onlyStreams() {
		return inBackground(serveSessions)
	}
	return inBackground(access.register, p.watch.Start, p.types.Start, p.startMarks(), serveSessions)
}

// inBackground runs several functions until ctx ends, or one of them fails. A nil one is left out.
func inBackground(functions ...func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		for _, f := range functions {
			if f != nil {
				group.Go(func() error { return f(ctx) })
			}
		}
		return group.Wait()
	}
}

func (a *app) loadConfig(path string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig %s: %w", path, err)
	}
	a.options.client.Apply(config)
	config.UserAgent = name
	return config, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha.AddToScheme, milo.AddToScheme,
		policyv1alpha1.Install, workv1alpha1.Install, workv1alpha2.Install, clusterv1alpha1.Install, configv1alpha1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return scheme, nil
}
