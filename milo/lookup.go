// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// ErrProjectNotFound reports that no project has this name.
var ErrProjectNotFound = errors.New("the project does not exist")

// probeProject is the name of the Project that Probe reads. It need not exist.
const probeProject = "karmada-compute-probe"

// How long answers are cached.
var (
	//
	// A Project is not kept longer than a suspension may take to have effect where its watch event is lost.
	projectLifetimes = lifetimes{found: 5 * time.Second, notFound: 2 * time.Second, stale: 10 * time.Minute}
	// Long enough for a burst of requests to share an answer.
	contentLifetimes = lifetimes{found: 5 * time.Second}
	// Known locations are used while Milo is unavailable, as the Project itself is. "Milo does not serve the kind" is an
	// answer.
	locationLifetimes = lifetimes{found: 5 * time.Second, notFound: refusalAge, stale: 10 * time.Minute}
	// Reserve decides which counts must be younger.
	countLifetimes = lifetimes{found: 10 * time.Minute, stale: 10 * time.Minute}
)

// countedFor is the maximum age of the count of a project that uses more than half of its maximum.
const countedFor = 5 * time.Second

// refusalAge is the maximum age of an answer that refuses a request. Requests in a storm share the answer.
const refusalAge = time.Second

// LookupOptions configure a Lookup.
type LookupOptions struct {
	// Root is the configuration for Milo's root. It is copied. Its QPS and Timeout are ignored: Milo's priority and
	// fairness limits requests, and every request has its own deadline. It is not used with Planes.
	Root *rest.Config
	// Planes are the control planes of projects, whose clients send their requests at once. Nil: Milo's control planes.
	Planes Planes
	// Clock is the time of the caches. Nil means the real clock.
	Clock clock.Clock
	// Registerer registers the metrics. Nil: they are not registered.
	Registerer prometheus.Registerer
	// LocationKind reports whether Milo serves LocationBindings. Nil: Milo serves them.
	LocationKind *LocationKind
}

// Lookup reads any project, without a leader or a manager, over one HTTP transport for all projects. It caches answers
// for seconds, see its methods, and at most 16384 of each kind.
//
// It is safe for concurrent use, and a project that answers slowly delays no lookup of another. Methods return when
// their context ends, at the latest 10 s after a request to Milo began. Unless a method states otherwise, an error
// means that Milo gave no answer. "Milo cannot be reached" is a temporary error, "Milo refuses" needs an administrator.
// The error is an InternalError (apierrors) for a fault of this replica, such as credentials that Milo does not accept,
// and ServiceUnavailable when every other replica would get the same error.
type Lookup struct {
	planes  Planes
	client  client.Client
	clock   clock.Clock
	metrics *lookupMetrics
	kind    *LocationKind
	// answered reports that Milo's root has answered once.
	answered atomic.Bool

	projects   *answers[*Project]
	locations  *answers[[]cities.Location]
	allowances *answers[allowance]
	reviews    *answers[string]
	writes     *answers[string]
	asked      *answers[*asked]
}

// NewLookup creates a Lookup. It sends no request. It returns an error if the configuration for Milo's root is invalid.
func NewLookup(o LookupOptions) (*Lookup, error) {
	planes, err := o.planes()
	if err != nil {
		return nil, err
	}
	l := &Lookup{planes: planes, client: planes.Root(), clock: o.Clock, kind: o.LocationKind, metrics: newLookupMetrics(o.Registerer)}
	if l.clock == nil {
		l.clock = clock.RealClock{}
	}
	l.projects = newAnswers[*Project](l, kindProject, "the project", projectLifetimes)
	l.projects.isNewer = isNewer
	l.locations = newAnswers[[]cities.Location](l, kindLocations, "the project's locations", locationLifetimes)
	l.allowances = newAnswers[allowance](l, kindAllowance, "the project's quota", contentLifetimes)
	l.asked = newAnswers[*asked](l, kindInstances, "the project's Workloads", countLifetimes)
	l.reviews = newAnswers[string](l, kindReview, "a review of the user's access", contentLifetimes)
	l.writes = newAnswers[string](l, kindReview, "a review of the user's access",
		lifetimes{found: contentLifetimes.found, stale: projectLifetimes.stale})
	return l, nil
}

// planes returns the planes of the options, or Milo's, over one transport for all projects.
func (o *LookupOptions) planes() (Planes, error) {
	if o.Planes != nil {
		return o.Planes, nil
	}
	if o.Root == nil {
		return nil, errors.New("LookupOptions.Root must be the configuration for Milo's root")
	}
	root := rest.CopyConfig(o.Root)
	// The client's default is five requests a second.
	root.QPS = -1
	root.Timeout = 0
	// Otherwise reviews would be sent as protobuf.
	root.ContentType = runtime.ContentTypeJSON
	scheme := runtime.NewScheme()
	if err := errors.Join(AddToScheme(scheme), authenticationv1.AddToScheme(scheme), authorizationv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	return newRemote(root, scheme)
}

// Project returns the Project with this name at Milo's root, or ErrProjectNotFound. It is shared: callers must not
// change it.
//
// It may be up to 5 s old, and ErrProjectNotFound up to 2 s; with Observe and Forget it is as new as the last event.
// While Milo does not answer, or refuses, the Project may be up to 10 minutes old. It is then returned within 1 s, and
// at once if a request failed within the last second. Call FreshProject before a request is refused because of the
// Project.
func (l *Lookup) Project(ctx context.Context, name string) (*Project, error) {
	return l.project(name, func() (*Project, bool, error) { return l.projects.get(ctx, name, l.fetchProject(name)) })
}

// FreshProject is Project, at most a second old. While Milo does not answer it returns an error.
func (l *Lookup) FreshProject(ctx context.Context, name string) (*Project, error) {
	return l.project(name, func() (*Project, bool, error) {
		return l.projects.getFresh(ctx, name, refusalAge, l.fetchProject(name))
	})
}

// project looks up a name that is valid for a Project.
func (l *Lookup) project(name string, look func() (*Project, bool, error)) (*Project, error) {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		// No object has such a name, and it must not become part of a URL.
		l.metrics.count(kindProject, outcomeHit)
		return nil, ErrProjectNotFound
	}
	project, found, err := look()
	if err == nil && !found {
		err = ErrProjectNotFound
	}
	return project, err
}

func (l *Lookup) fetchProject(name string) fetcher[*Project] {
	return func(ctx context.Context) (*Project, bool, error) { return l.readProject(ctx, name) }
}

// readProject reads a Project at Milo's root.
func (l *Lookup) readProject(ctx context.Context, name string) (*Project, bool, error) {
	project, found, err := getProject(ctx, l.client, name)
	if err != nil {
		return nil, false, l.unanswered("the project", err)
	}
	l.answered.Store(true)
	return project, found, nil
}

// getProject reads a Project at Milo's root. found is false only if an API server has answered that the Project does
// not exist: a 404 without a Status comes from a gateway without a route to Milo.
func getProject(ctx context.Context, root client.Reader, name string) (project *Project, found bool, err error) {
	project = &Project{}
	err = root.Get(ctx, client.ObjectKey{Name: name}, project)
	switch {
	case err == nil:
		return project, true, nil
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, false, nil
	default:
		return nil, false, err
	}
}

// Observe informs the Lookup of a Project's state in a watch. The Project must not be changed any more. Only Projects
// that were requested before are cached. The Lookup does not depend on Observe: without a watch, answers are older.
func (l *Lookup) Observe(project *Project) { l.projects.observe(project.Name, project, true) }

// Forget informs the Lookup that a watch has reported the deletion of a Project.
func (l *Lookup) Forget(project *Project) { l.projects.observe(project.Name, nil, false) }

// isNewer reports whether one state of a Project is newer than another. All Projects are in one etcd, so their resource
// versions can be compared, even the versions of two Projects with the same name.
func isNewer(project, other *Project) bool {
	order, err := resourceversion.CompareResourceVersion(project.ResourceVersion, other.ResourceVersion)
	return err == nil && order > 0
}

// Locations returns the locations of a project, available or not. They may be up to 5 s old. While Milo does not
// answer, they may be up to 10 minutes old; age is their age then, and 0 otherwise. Call it only with a Project that
// Project returned: a request for any other name would create storage at Milo. A recreated project is a different
// project. The slice is shared: callers must not change it. The error is v1alpha.ErrLocationsNotServed while Milo does
// not serve LocationBindings: that needs Milo's operator, and no retry.
func (l *Lookup) Locations(ctx context.Context, project *Project) (locations []cities.Location, age time.Duration, err error) {
	e, outcome, err := l.locations.resolve(ctx, identity(project), l.fetchLocations(project))
	l.metrics.count(kindLocations, outcome)
	if err == nil && !e.found {
		err = cities.ErrLocationsNotServed
	}
	if err != nil {
		return nil, 0, err
	}
	if outcome == outcomeStale {
		age = l.clock.Since(e.answered)
	}
	return e.value, age, nil
}

// FreshLocations returns Milo's current Locations. Call it before refusing a location that may have been added a moment
// ago. For a second after a failure, it returns that failure.
func (l *Lookup) FreshLocations(ctx context.Context, project *Project) ([]cities.Location, error) {
	locations, found, err := l.locations.getFresh(ctx, identity(project), 0, l.fetchLocations(project))
	if err == nil && !found {
		err = cities.ErrLocationsNotServed
	}
	return locations, err
}

// CityCodes are the cities of the available Locations: upper case, sorted, each once.
func (l *Lookup) CityCodes(ctx context.Context, project *Project) (codes []string, age time.Duration, err error) {
	locations, age, err := l.Locations(ctx, project)
	return cities.AvailableCities(locations), age, err
}

func (l *Lookup) fetchLocations(project *Project) fetcher[[]cities.Location] {
	return func(ctx context.Context) ([]cities.Location, bool, error) {
		reader, err := l.planes.Client(project.Name)
		if err != nil {
			return nil, false, err
		}
		locations, err := Locations{}.List(ctx, reader)
		if l.kind.Explains(ctx, err) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, l.unanswered("the project's locations", err)
		}
		return locations, true, nil
	}
}

// Probe reads a Project that need not exist from Milo's root, bypassing all caches. It returns nil if Milo answers.
func (l *Lookup) Probe(ctx context.Context) error {
	return l.uncached(ctx, kindProbe, func(ctx context.Context) error {
		_, _, err := l.readProject(ctx, probeProject)
		return err
	})
}

// WhoAmI is the name of the user that the add-on is at Milo. It is not cached.
func (l *Lookup) WhoAmI(ctx context.Context) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	err := l.uncached(ctx, kindSelf, func(ctx context.Context) error { return l.client.Create(ctx, review) })
	if err != nil {
		return "", l.unanswered("the user that the add-on is", err)
	}
	return review.Status.UserInfo.Username, nil
}

// uncached sends a request past the caches.
func (l *Lookup) uncached(ctx context.Context, kind string, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	began := l.clock.Now()
	err := ask(ctx)
	l.metrics.took(kind, l.clock.Since(began))
	return err
}

// identity is unique to a project. A recreated project with the same name has another identity.
func identity(project *Project) string { return project.Name + "/" + string(project.UID) }

// Review sends a SubjectAccessReview to a project and returns whether it was allowed, and the authorizer's reason.
// Allowed reviews are cached for 5 s, as in a kube-apiserver with an authorization webhook. Denied reviews are not, so
// that a new role takes effect at once.
//
// The spec is sent unchanged. For a user of the project, its Extra must hold the extras of the AdmissionReview's
// userInfo (iam.miloapis.com/parent-api-group, -type and -name): without them the authorizer denies everything. Call it
// only with a Project that Project returned. allowed is false whenever err is not nil.
func (l *Lookup) Review(
	ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec,
) (allowed bool, reason string, err error) {
	return l.review(ctx, l.reviews, project, spec)
}

// MayWrite is Review for a request that an API server has authorized itself: while Milo does not answer, an allowed
// review may be up to 10 minutes old, as the Project.
func (l *Lookup) MayWrite(ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	allowed, _, err := l.review(ctx, l.writes, project, spec)
	return allowed, err
}

func (l *Lookup) review(
	ctx context.Context, cached *answers[string], project *Project, spec authorizationv1.SubjectAccessReviewSpec,
) (allowed bool, reason string, err error) {
	key, err := reviewKey(project, spec)
	if err != nil {
		return false, "", err
	}
	reason, allowed, err = cached.get(ctx, key, func(ctx context.Context) (string, bool, error) {
		return l.askReview(ctx, project, spec)
	})
	return allowed && err == nil, reason, err
}

// reviewKey is the key of a review in the cache. It depends on the whole spec, since any field may matter to an
// authorizer.
func reviewKey(project *Project, spec authorizationv1.SubjectAccessReviewSpec) (string, error) {
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode the review of the user's access: %w", err)
	}
	digest := sha256.Sum256(encoded)
	return identity(project) + "/" + string(digest[:]), nil
}

// askReview sends a review to a project.
func (l *Lookup) askReview(
	ctx context.Context, project *Project, spec authorizationv1.SubjectAccessReviewSpec,
) (reason string, allowed bool, err error) {
	creator, err := l.planes.Client(project.Name)
	if err != nil {
		return "", false, err
	}
	review := &authorizationv1.SubjectAccessReview{Spec: spec}
	if err := creator.Create(ctx, review); err != nil {
		return "", false, l.unanswered("a review of the user's access", err)
	}
	status := review.Status
	if status.Reason == "" && !status.Allowed {
		// An authorizer that failed to decide gives an error instead of a reason.
		status.Reason = status.EvaluationError
	}
	return status.Reason, status.Allowed && !status.Denied, nil
}
