// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"github.com/spf13/pflag"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/hub/sessions"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/namespaces"
	"github.com/karmada-compute/karmada-compute/webhook"
	"github.com/karmada-compute/karmada-compute/webhook/server"
)

const (
	// sessionsName is the name of the webhook of InstanceSessions in --webhooks.
	sessionsName = "sessions"
	// sessionsEnd is how long commands and requests in flight may take when a replica ends. The shutdown delay is over by
	// then.
	sessionsEnd = 15 * time.Second
	// maxAnswerHeaders bounds the headers of a cell's answer.
	maxAnswerHeaders = 64 << 10
)

// Values of --session-streams.
const (
	streamsHere      = "here"
	streamsElsewhere = "elsewhere"
	streamsOnly      = "only"
)

// sessionOptions are the flags of InstanceSessions.
type sessionOptions struct {
	kubeconfig, tokenSecret string
	namespace, url, address string
	port, bytesPerSecond    int
	idleTimeout             time.Duration
	streams                 string
	users                   []string
	limits                  sessions.Limits
}

func (o *sessionOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "session-kubeconfig", "",
		"Kubeconfig of the hub for the streams of InstanceSessions, with a credential of their own. Required with feature "+
			"gates InstanceLogs and InstanceExec.")
	flags.StringVar(&o.tokenSecret, "session-token-secret", "",
		"Namespace and name of the Secret with the token of --session-kubeconfig, as --token-secret.")
	flags.StringVar(&o.namespace, "session-namespace", "karmada-compute-sessions",
		"Namespace on the hub for the grants of InstanceSessions, and for nothing else.")
	flags.StringVar(&o.url, "session-url", "",
		"URL at which consumers reach the streams of InstanceSessions on every replica. Required with feature gates "+
			"InstanceLogs and InstanceExec.")
	flags.StringVar(&o.address, "session-bind-address", "",
		"Address that the streams of InstanceSessions are served on. Default: all interfaces.")
	flags.StringVar(&o.streams, "session-streams", streamsHere,
		"Process that carries the streams of InstanceSessions. here: this one, if it serves webhook sessions. elsewhere: "+
			"another one, and this one only admits InstanceSessions. only: this one, and it serves neither webhooks nor controllers.")
	flags.StringSliceVar(&o.users, "session-users", nil,
		"With --session-streams=elsewhere, users that Milo, or with --projects=namespaces the hub, authenticates the process "+
			"as that carries the streams. They may write the status of InstanceSessions, as the add-on may. Needed if they are "+
			"other users than this process.")
	flags.IntVar(&o.port, "session-port", 9444, "Port that the streams of InstanceSessions are served on.")
	flags.IntVar(&o.limits.PerUser, "max-user-sessions", 50, "Maximum number of InstanceSessions of a user in a project.")
	flags.IntVar(&o.limits.PerProject, "max-project-sessions", 200, "Maximum number of InstanceSessions of a project.")
	flags.IntVar(&o.bytesPerSecond, "session-bytes-per-second", 50<<20,
		"Maximum number of bytes per second of each stream of an InstanceSession, in both directions together. 0: no limit.")
	flags.DurationVar(&o.idleTimeout, "session-idle-timeout", 15*time.Minute,
		"Maximum time without data for streams of InstanceSessions, except logs that are followed. 0s: no limit.")
	flags.IntVar(&o.limits.Streams, "max-streams", 500, "Maximum number of streams of InstanceSessions that a replica carries.")
}

// enabled reports whether any type of session is offered.
func (o *sessionOptions) enabled(features featuregate.FeatureGate) bool {
	return features.Enabled(webhook.InstanceLogs) || features.Enabled(webhook.InstanceExec)
}

// check returns all mistakes.
func (o *sessionOptions) check(features featuregate.FeatureGate) []error {
	mistakes := []error{
		component.AtLeast("max-user-sessions", o.limits.PerUser, 1),
		component.AtLeast("max-project-sessions", o.limits.PerProject, 1),
		component.AtLeast("max-streams", o.limits.Streams, 1),
		component.AtLeast("session-bytes-per-second", o.bytesPerSecond, 0),
		component.AtLeast("session-idle-timeout", o.idleTimeout, 0),
	}
	if o.port < 1 || o.port > 65535 {
		mistakes = append(mistakes, fmt.Errorf("--session-port: %d is not a port from 1 to 65535", o.port))
	}
	if !slices.Contains([]string{streamsHere, streamsElsewhere, streamsOnly}, o.streams) {
		mistakes = append(mistakes, fmt.Errorf("--session-streams: %q is not here, elsewhere or only", o.streams))
	}
	if !o.enabled(features) {
		if o.streams == streamsOnly {
			mistakes = append(mistakes, errors.New("--session-streams: only: enable feature gate InstanceLogs or InstanceExec"))
		}
		return mistakes
	}
	if o.kubeconfig == "" {
		mistakes = append(mistakes, errors.New("--session-kubeconfig: name a kubeconfig of the hub for sessions, with a credential of their own"))
	}
	if address, err := url.Parse(o.url); err != nil || address.Scheme != "https" || address.Host == "" ||
		address.User != nil || address.RawQuery != "" {
		mistakes = append(mistakes, fmt.Errorf("--session-url: %q is no URL such as https://sessions.example.com:9444", o.url))
	}
	return mistakes
}

// onlyStreams reports whether the process carries streams, and nothing else.
func (a *app) onlyStreams() bool { return a.options.sessions.streams == streamsOnly }

// checkStreams returns an error if a process that only carries streams has other work.
func (a *app) checkStreams() error {
	if a.onlyStreams() && (len(a.builder.Webhooks()) > 0 || a.builder.Controllers()) {
		return errors.New("--session-streams: only: set --webhooks= and --controllers=-*")
	}
	return nil
}

// serveSessions returns a function that records the grants of sessions, and serves their streams unless another process
// does. It is nil if sessions are off.
func (a *app) serveSessions(p *planes, access *access) (func(context.Context) error, error) {
	o := &a.options.sessions
	selected := slices.ContainsFunc(a.builder.Webhooks(), func(w server.Webhook) bool { return w.Name == sessionsName })
	if !selected && !a.onlyStreams() || !o.enabled(a.options.webhook.features) {
		return nil, nil
	}
	config, err := a.loadConfig(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	mapper.Add(v1alpha.GroupVersion.WithKind(v1alpha.KindWorkloadDeployment), meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersion(clusterv1alpha1.GroupVersion).WithKind("Cluster"), meta.RESTScopeRoot)
	hub, err := client.NewWithWatch(config, client.Options{Scheme: p.scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("make a client of sessions for the hub: %w", err)
	}
	grants := &sessions.Grants{Hub: hub, Namespace: o.namespace, Limits: o.limits, Clock: clock.RealClock{}}
	projects, err := a.newSessionProjects(p, config)
	if err != nil {
		return nil, err
	}
	admission := sessions.NewAdmission(grants, projects, clock.RealClock{}, ctrl.Log.WithName("sessions"))
	a.sessions.Grants = sessionGrants{admission.Grant}
	if o.streams == streamsElsewhere {
		return admission.Run, nil
	}
	streams := rest.CopyConfig(config)
	streams.Impersonate = rest.ImpersonationConfig{UserName: sessions.User}
	cells, err := transportToCells(streams)
	if err != nil {
		return nil, err
	}
	s, err := sessions.New(sessions.Options{
		Grants: grants, Projects: projects, Cells: cells, Hub: config.Host, BytesPerSecond: o.bytesPerSecond, IdleTimeout: o.idleTimeout,
		Ports:       sessions.NewDialer(streams),
		Address:     net.JoinHostPort(o.address, strconv.Itoa(o.port)),
		Certificate: access.certificates.GetCertificate, URL: o.url, Bundle: optional(access.bundle), Delay: sessionsEnd,
		Clock: clock.RealClock{}, Registerer: metrics.Registry, Log: ctrl.Log.WithName("sessions"),
	})
	if err != nil {
		return nil, err
	}
	return inBackground(s.Run, admission.Run), nil
}

// optional returns no CAs if their file does not exist: clients trust the CAs of their systems then.
func optional(bundle func(context.Context) ([]byte, error)) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		pem, err := bundle(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return pem, err
	}
}

// transportToCells sends requests to the hub over HTTP/1.1, which can be upgraded.
func transportToCells(config *rest.Config) (http.RoundTripper, error) {
	secured, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("make the transport of sessions to the hub: %w", err)
	}
	if secured != nil {
		secured.NextProtos = []string{"http/1.1"}
	}
	return rest.HTTPWrappersForConfig(config, &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: secured, MaxResponseHeaderBytes: maxAnswerHeaders,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout: 90 * time.Second,
		// A log is passed on unchanged.
		DisableCompression: true,
	})
}

// sessionGrants implements webhook.SessionGrants.
type sessionGrants struct {
	grant func(context.Context, *sessions.Grant) error
}

// Grant grants a session.
func (g sessionGrants) Grant(ctx context.Context, grant *webhook.SessionGrant) error {
	err := g.grant(ctx, &sessions.Grant{
		Project: grant.Project.Name, ProjectUID: grant.Project.UID, Namespace: grant.Namespace, Name: grant.Name, UID: grant.UID,
		User: grant.User, Spec: grant.Spec,
	})
	if errors.Is(err, sessions.ErrTooMany) {
		return fmt.Errorf("%w: %w", webhook.ErrTooManySessions, err)
	}
	return err
}

// sessionWriters are the users that write the status of sessions: the controllers, and this process and the one of
// --session-users if they are other users.
func (a *app) sessionWriters(ctx context.Context) ([]string, error) {
	users, err := a.users.get(ctx)
	if err != nil {
		return nil, err
	}
	self, err := a.users.self(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Concat(users, []string{self}, a.options.sessions.users), nil
}

// sessionProjects implements sessions.Projects.
type sessionProjects struct {
	lookup *milo.Lookup
	// client creates a client for a project.
	client func(project string) (client.Client, error)
}

// newSessionProjects reaches the projects as this process, and namespaces that are projects with the credential of sessions
// where streams are carried elsewhere: only that one reads sessions there.
func (a *app) newSessionProjects(p *planes, config *rest.Config) (*sessionProjects, error) {
	if p.namespaces != nil && a.options.sessions.streams == streamsElsewhere {
		own, err := namespaces.New(namespaces.Options{Hub: config, Scheme: p.scheme, Log: ctrl.Log.WithName("sessions")})
		if err != nil {
			return nil, err
		}
		return &sessionProjects{lookup: p.lookup, client: own.Client}, nil
	}
	if p.namespaces != nil {
		return &sessionProjects{lookup: p.lookup, client: p.namespaces.Client}, nil
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Event"), meta.RESTScopeNamespace)
	mapper.Add(v1alpha.GroupVersion.WithKind(v1alpha.KindInstance), meta.RESTScopeNamespace)
	mapper.Add(v1alpha.GroupVersion.WithKind(v1alpha.KindInstanceSession), meta.RESTScopeNamespace)
	transport, err := rest.HTTPClientFor(p.milo)
	if err != nil {
		return nil, fmt.Errorf("make the transport of sessions to Milo: %w", err)
	}
	options := client.Options{HTTPClient: transport, Scheme: p.scheme, Mapper: mapper}
	return &sessionProjects{lookup: p.lookup, client: func(project string) (client.Client, error) {
		config, err := milo.ProjectConfig(p.milo, project)
		if err != nil {
			return nil, err
		}
		return client.New(config, options)
	}}, nil
}

// Client is a client of the project with this name and UID.
func (s *sessionProjects) Client(ctx context.Context, name string, uid types.UID) (client.Client, error) {
	project, err := s.lookup.FreshProject(ctx, name)
	if errors.Is(err, milo.ErrProjectNotFound) || err == nil && (project.UID != uid || project.IsDeleting()) {
		return nil, sessions.ErrProjectGone
	}
	if err != nil {
		return nil, fmt.Errorf("look project %s up: %w", name, err)
	}
	return s.client(name)
}

// Review asks a project whether a user has a permission.
func (s *sessionProjects) Review(
	ctx context.Context, name string, uid types.UID, spec authorizationv1.SubjectAccessReviewSpec,
) (bool, error) {
	allowed, _, err := s.lookup.Review(ctx, known(webhook.Project{Name: name, UID: uid}), spec)
	return allowed, err
}
