// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/cities"
)

const (
	// kindAge is the maximum age of an answer that refuses a request. kindInterval is the interval between questions while
	// informers wait for the kind. All waiters share an answer.
	kindAge      = time.Second
	kindInterval = 10 * time.Second
	// resourceLocations is the resource of LocationBindings.
	resourceLocations = "locationbindings"
)

// LocationKind determines whether Milo serves LocationBindings. Milo does not ship them: an operator installs their
// CustomResourceDefinition. A 404 of a project alone proves nothing, since a gateway without a route to Milo answers
// the same; so it asks Milo's root, which serves the same kinds as every project. It sends no request before one for
// LocationBindings fails. It is safe for concurrent use; nil never finds the kind missing.
type LocationKind struct {
	root   rest.Interface
	clock  clock.WithTicker
	log    logr.Logger
	served prometheus.Gauge
	flight singleflight.Group

	mu sync.Mutex
	// missing is Milo's last answer, at the time asked.
	missing bool
	asked   time.Time
}

// LocationKindOptions configure a LocationKind.
type LocationKindOptions struct {
	// Root is the configuration for Milo's root.
	Root *rest.Config
	// Clock is the time between questions.
	Clock clock.WithTicker
	// Registerer registers the metric.
	Registerer prometheus.Registerer
	// Log gets the change of an answer.
	Log logr.Logger
}

// NewLocationKind returns a LocationKind, and registers its metric.
func NewLocationKind(o LocationKindOptions) (*LocationKind, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	config := rest.CopyConfig(o.Root)
	config.QPS, config.ContentType = -1, runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	root, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the kinds of Milo's root: %w", err)
	}
	k := &LocationKind{root: root, clock: o.Clock, log: o.Log, served: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "karmada_compute_locations_served",
		Help: "1 while Milo serves LocationBindings, as far as this replica knows. 0: an operator must install the " +
			"CustomResourceDefinition of LocationBindings at Milo; until then no project has a location, and no Workload is admitted.",
	})}
	k.served.Set(1)
	o.Registerer.MustRegister(k.served)
	return k, nil
}

// Explains reports whether a request for LocationBindings in a project failed because Milo does not serve them.
func (k *LocationKind) Explains(ctx context.Context, err error) bool {
	if k == nil || !apierrors.IsNotFound(err) {
		return false
	}
	missing, err := k.ask(ctx, kindAge)
	return missing && err == nil
}

// IsMissing reports whether Milo's last answer was that it does not serve LocationBindings.
func (k *LocationKind) IsMissing() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.missing
}

// ask returns whether the kind is missing, by an answer that is not older than maxAge.
func (k *LocationKind) ask(ctx context.Context, maxAge time.Duration) (missing bool, err error) {
	k.mu.Lock()
	missing, recent := k.missing, !k.asked.IsZero() && k.clock.Since(k.asked) < maxAge
	k.mu.Unlock()
	if recent {
		return missing, nil
	}
	flight := k.flight.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()
		missing, err := k.read(ctx)
		if err == nil {
			k.note(missing)
		}
		return missing, err
	})
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case result := <-flight:
		missing, _ = result.Val.(bool)
		return missing, result.Err
	}
}

// read asks Milo's root. A group without any kind is not served at all; the presence of Milo's own group proves that an
// API server answered.
func (k *LocationKind) read(ctx context.Context) (missing bool, err error) {
	var kinds metav1.APIResourceList
	err = k.root.Get().AbsPath("/apis", NetworkingGroupVersion.Group, NetworkingGroupVersion.Version).Do(ctx).Into(&kinds)
	if err == nil {
		return !slices.ContainsFunc(kinds.APIResources, func(r metav1.APIResource) bool { return r.Name == resourceLocations }), nil
	}
	if !apierrors.IsNotFound(err) {
		return false, err
	}
	var groups metav1.APIGroupList
	if err := k.root.Get().AbsPath("/apis").Do(ctx).Into(&groups); err != nil {
		return false, err
	}
	if !slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == ResourceManagerGroupVersion.Group }) {
		return false, errors.New("what answers for Milo's root does not serve Projects")
	}
	return true, nil
}

// note takes note of an answer, and logs a change.
func (k *LocationKind) note(missing bool) {
	k.mu.Lock()
	changed := missing != k.missing
	k.missing, k.asked = missing, k.clock.Now()
	k.mu.Unlock()
	switch {
	case changed && missing:
		k.served.Set(0)
		k.log.Error(cities.ErrLocationsNotServed, "No Workload is admitted until the kind is installed")
	case changed:
		k.served.Set(1)
		k.log.Info("Milo serves LocationBindings again")
	}
}

// await returns a watch without events that ends as an expired one when Milo serves the kind: the reflector lists
// again.
func (k *LocationKind) await(ctx context.Context) watch.Interface {
	events := make(chan watch.Event)
	waiting := watch.NewProxyWatcher(events)
	go func() {
		defer close(events)
		for {
			timer := k.clock.NewTimer(kindInterval/2 + rand.N(kindInterval)) //nolint:gosec // jitter.
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-waiting.StopChan():
				timer.Stop()
				return
			case <-timer.C():
			}
			if missing, err := k.ask(ctx, kindInterval/2); missing || err != nil {
				continue
			}
			expired := apierrors.NewResourceExpired("Milo serves LocationBindings now").Status()
			select {
			case events <- watch.Event{Type: watch.Error, Object: &expired}:
			case <-ctx.Done():
			case <-waiting.StopChan():
			}
			return
		}
	}()
	return waiting
}

// Locations reads which locations a project may use from its LocationBindings.
type Locations struct {
	// Kind reports whether Milo serves LocationBindings. Nil: Milo serves them.
	Kind *LocationKind
}

// Object is the watched kind, on which the result of List depends.
func (Locations) Object() client.Object { return &LocationBinding{} }

// List returns the project's locations, available or not, by name. It returns v1alpha.ErrLocationsNotServed while Milo
// does not serve LocationBindings: the project's cache is empty then, which does not mean that the project has no
// locations.
func (l Locations) List(ctx context.Context, project client.Reader) ([]cities.Location, error) {
	var bindings LocationBindingList
	if err := project.List(ctx, &bindings); err != nil {
		return nil, fmt.Errorf("list the project's LocationBindings: %w", err)
	}
	if len(bindings.Items) == 0 && l.Kind.IsMissing() {
		return nil, cities.ErrLocationsNotServed
	}
	return locationsOf(bindings.Items), nil
}

// CityCodes are the cities of the project's available LocationBindings: upper case, sorted, each once.
func (l Locations) CityCodes(ctx context.Context, project client.Reader) ([]string, error) {
	locations, err := l.List(ctx, project)
	return cities.AvailableCities(locations), err
}

// locationsOf are the locations of bindings, by name. A location whose binding is being deleted is not available.
func locationsOf(bindings []LocationBinding) []cities.Location {
	locations := make([]cities.Location, 0, len(bindings))
	for i := range bindings {
		binding := &bindings[i]
		locations = append(locations, cities.Location{
			Name: cmp.Or(binding.Spec.LocationRef.Name, binding.Name), City: binding.City(), Topology: binding.Spec.Topology,
			Available: meta.IsStatusConditionTrue(binding.Status.Conditions, ConditionAvailable) && binding.DeletionTimestamp.IsZero(),
		})
	}
	slices.SortStableFunc(locations, func(a, b cities.Location) int { return strings.Compare(a.Name, b.Name) })
	return locations
}
