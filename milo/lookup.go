// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrProjectNotFound says that Milo answered and knows no such project.
var ErrProjectNotFound = errors.New("Milo knows no such project")

// probeProject is what Probe asks for. It need not exist.
const probeProject = "karmada-compute-probe"

// How long answers are good for.
var (
	projectLifetimes = lifetimes{found: 30 * time.Second, notFound: 2 * time.Second, stale: 10 * time.Minute}
	// What a request is validated against is read live, but not once more for each of a burst of requests.
	contentLifetimes = lifetimes{found: 5 * time.Second}
)

// LookupOptions configure a Lookup.
type LookupOptions struct {
	// Root is the configuration for Milo's root. It is copied; its QPS and Timeout are not heeded, since Milo's own
	// priority and fairness is the limit and every request has a deadline of its own.
	Root *rest.Config
	// Clock tells the time for the caches. Nil means the real one.
	Clock clock.Clock
	// Registerer takes the metrics. Nil means that they are not registered.
	Registerer prometheus.Registerer
}

// Lookup answers questions about any project, without a leader or a manager, over one HTTP transport for all projects.
// It keeps what it was told for seconds, see its methods, and at most 16384 answers of each sort.
//
// It is safe for concurrent use, and a project that is slow to answer delays no question about another. Methods return
// when their context ends, and 10 s after they began to ask Milo at the latest. Unless said otherwise an error says that
// Milo could not be asked: it tells "Milo cannot be reached", a matter of time, from "Milo refuses", which an
// administrator must mend.
type Lookup struct {
	root    *rest.Config
	options client.Options
	client  client.Client
	clock   clock.Clock
	metrics *lookupMetrics

	projects   *answers[*Project]
	locations  *answers[[]string]
	allowances *answers[allowance]
	reviews    *answers[string]
}

// NewLookup makes a Lookup. It contacts nobody. It fails when the configuration for Milo's root cannot be used, or the
// metrics cannot be registered. Lookups that share a registerer share their metrics.
func NewLookup(o LookupOptions) (*Lookup, error) {
	if o.Root == nil {
		return nil, errors.New("look projects up: LookupOptions.Root must be the configuration for Milo's root")
	}
	l := &Lookup{root: rest.CopyConfig(o.Root), clock: o.Clock}
	if l.clock == nil {
		l.clock = clock.RealClock{}
	}
	// The client's default would let five users a second write.
	l.root.QPS = -1
	l.root.Timeout = 0
	// One format for all kinds: SubjectAccessReviews alone would be sent as protobuf.
	l.root.ContentType = runtime.ContentTypeJSON
	if err := l.connect(); err != nil {
		return nil, err
	}
	var err error
	if l.metrics, err = newLookupMetrics(o.Registerer); err != nil {
		return nil, err
	}
	l.projects = newAnswers[*Project](l, kindProject, "the project", projectLifetimes)
	l.locations = newAnswers[[]string](l, kindLocations, "the project's locations", contentLifetimes)
	l.allowances = newAnswers[allowance](l, kindAllowance, "the project's quota", contentLifetimes)
	l.reviews = newAnswers[string](l, kindReview, "a review of the user's access", contentLifetimes)
	return l, nil
}

// connect makes the transport that all projects share, and the client for Milo's root.
func (l *Lookup) connect() error {
	scheme := runtime.NewScheme()
	if err := errors.Join(AddToScheme(scheme), authorizationv1.AddToScheme(scheme)); err != nil {
		return fmt.Errorf("build the scheme: %w", err)
	}
	mapper, err := staticMapper(scheme)
	if err != nil {
		return err
	}
	var transport *http.Client
	if transport, err = rest.HTTPClientFor(l.root); err != nil {
		return fmt.Errorf("make the transport to Milo: %w", err)
	}
	l.options = client.Options{HTTPClient: transport, Scheme: scheme, Mapper: mapper}
	if l.client, err = client.New(l.root, l.options); err != nil {
		return fmt.Errorf("make a client for Milo's root: %w", err)
	}
	return nil
}

// Project is the Project of that name at Milo's root. It returns ErrProjectNotFound when there is none. The Project is
// shared: callers must not change it.
//
// It may be up to 30 s old, and that there is none up to 2 s. While Milo cannot be reached or refuses, it may be up to
// 10 minutes old; it is then served within 1 s, and at once when Milo failed within the last second.
func (l *Lookup) Project(ctx context.Context, name string) (*Project, error) {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		// No object has such a name; and it must not become part of a path.
		l.metrics.count(kindProject, outcomeHit)
		return nil, ErrProjectNotFound
	}
	project, found, err := l.projects.get(ctx, name, func(ctx context.Context) (*Project, bool, error) {
		return l.readProject(ctx, name)
	})
	if err == nil && !found {
		err = ErrProjectNotFound
	}
	return project, err
}

// readProject reads a Project at Milo's root.
func (l *Lookup) readProject(ctx context.Context, name string) (*Project, bool, error) {
	project := &Project{}
	switch err := l.client.Get(ctx, client.ObjectKey{Name: name}, project); {
	// A 404 that is not an apiserver's comes from a gateway with no route to Milo. It says nothing about the project.
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, false, nil
	case err != nil:
		return nil, false, asked("the project", err)
	}
	return project, true, nil
}

// CityCodes are the cities that a project may use: upper case, sorted, each once. They may be up to 5 s old. Ask it only
// of what Project returned: touching any other makes Milo set storage aside for it. A project that was made anew under
// the same name is another.
func (l *Lookup) CityCodes(ctx context.Context, project *Project) ([]string, error) {
	codes, _, err := l.locations.get(ctx, identity(project), func(ctx context.Context) ([]string, bool, error) {
		reader, err := l.within(project)
		if err != nil {
			return nil, false, err
		}
		codes, err := Locations{}.CityCodes(ctx, reader)
		if err != nil {
			return nil, false, asked("the project's locations", err)
		}
		return codes, true, nil
	})
	return slices.Clone(codes), err
}

// FreshCityCodes are CityCodes as they are now: for whoever is about to refuse a city that may have been added a moment
// ago. After a failure it is that failure for a second, as it is for CityCodes.
func (l *Lookup) FreshCityCodes(ctx context.Context, project *Project) ([]string, error) {
	l.locations.expire(identity(project))
	return l.CityCodes(ctx, project)
}

// Probe asks Milo's root, past every cache, for a Project that need not exist. It returns nil when Milo answers, and
// so would answer other lookups.
func (l *Lookup) Probe(ctx context.Context) error {
	return l.live(ctx, kindProbe, func(ctx context.Context) error {
		_, _, err := l.readProject(ctx, probeProject)
		return err
	})
}

// live asks Milo past the caches.
func (l *Lookup) live(ctx context.Context, kind string, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	began := l.clock.Now()
	err := ask(ctx)
	l.metrics.took(kind, l.clock.Since(began))
	return err
}

// within is a client for a project's control plane.
func (l *Lookup) within(project *Project) (client.Client, error) {
	config, err := ProjectConfig(l.root, project.Name)
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, l.options)
	if err != nil {
		return nil, fmt.Errorf("make a client for the project: %w", err)
	}
	return c, nil
}

// identity tells a project from one that had the same name before it.
func identity(project *Project) string { return project.Name + "/" + string(project.UID) }

// asked says why Milo gave no answer, and what is to be done when it is not a matter of time.
func asked(what string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return fmt.Errorf("Milo refuses the add-on %s, an administrator must grant it: %w", what, err)
	}
	return fmt.Errorf("Milo cannot be reached for %s: %w", what, err)
}
