// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package instancetypes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

const (
	// interval is the time between two reads of the hub's types, and so the maximum delay of a change.
	interval = 10 * time.Second
	// readTimeout bounds a read: admission waits for it.
	readTimeout = 3 * time.Second
	// ConfirmedWithin is the maximum age of the hub's last answer for admission: longer than a restart of the hub
	// takes.
	ConfirmedWithin = 2 * time.Minute
	// StartedWithin is its maximum age for a deployment that takes its size from a type.
	StartedWithin = 15 * time.Second
)

// ErrNotServed is the error of a hub that does not serve InstanceTypes.
var ErrNotServed = errors.New("the hub does not serve InstanceTypes; apply the CRD instancetypes.compute.datumapis.com")

// First returns the type that the add-on creates if none exists.
func First() *v1alpha.InstanceType {
	return &v1alpha.InstanceType{
		ObjectMeta: metav1.ObjectMeta{Name: "datumcloud-d1-standard-2"},
		Spec: v1alpha.InstanceTypeSpec{
			DisplayName: "Standard, 1 vCPU, 2 GiB",
			Resources: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi"),
			},
			Lifecycle: v1alpha.InstanceTypeLifecycle{Phase: v1alpha.InstanceTypeActive},
		},
	}
}

// CatalogueOptions configure a Catalogue.
type CatalogueOptions struct {
	// Hub reads from the hub's API server, past every cache.
	Hub client.Client
	// Clock determines when the types are read again.
	Clock clock.WithTicker
	// Registerer registers the metric that reports whether the hub serves types.
	Registerer prometheus.Registerer
	// Log receives each failure, once.
	Log logr.Logger
	// Grace is how long after its deprecation a type may be named by new Workloads. 0: indefinitely.
	Grace time.Duration
}

// Catalogue holds the InstanceTypes of the hub. It reads them at intervals and has no watch: they are few and hardly
// change, every replica needs them for admission, and a hub that does not serve the kind must not keep an informer, and
// with it a controller, from starting. It is safe for concurrent use.
type Catalogue struct {
	options CatalogueOptions
	served  prometheus.Gauge
	reads   singleflight.Group

	mu sync.Mutex
	// types are sorted by name; nil until the first answer.
	types []v1alpha.InstanceType
	// answered is when the hub last answered.
	answered time.Time
	// err is the error of the last read.
	err     error
	changed []func()
	// unrecorded is why deprecations could not be recorded at the last attempt, and unmade why the first type was not
	// created.
	unrecorded, unmade string
}

// NewCatalogue returns a Catalogue. It sends no request.
func NewCatalogue(options CatalogueOptions) *Catalogue {
	served := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "karmada_compute_instance_types_served",
		Help: "1 while the hub serves InstanceTypes, else 0: Workloads are then not checked against InstanceTypes.",
	})
	options.Registerer.MustRegister(served)
	return &Catalogue{options: options, served: served}
}

// Types returns the types sorted by name, from the last answer of the hub, however old; it reads them if the hub has
// never answered. ErrNotServed: the hub does not serve types. The caller must not change them.
func (c *Catalogue) Types(ctx context.Context) ([]v1alpha.InstanceType, error) {
	types, err := c.known()
	switch {
	case types != nil:
		return types, nil
	case errors.Is(err, ErrNotServed):
		return nil, err
	}
	return c.Fresh(ctx)
}

// Confirmed returns the types that the hub has confirmed within age, sorted by name. It reads them again if the last
// answer is older: a type that was disabled since must not be used because the hub is unavailable. Otherwise it is like
// Types.
func (c *Catalogue) Confirmed(ctx context.Context, age time.Duration) ([]v1alpha.InstanceType, error) {
	c.mu.Lock()
	types, answered, err := c.types, c.answered, c.err
	c.mu.Unlock()
	if !answered.IsZero() && c.options.Clock.Since(answered) <= age {
		if errors.Is(err, ErrNotServed) {
			return nil, err
		}
		return types, nil
	}
	if types, err = c.Fresh(ctx); err == nil || errors.Is(err, ErrNotServed) || answered.IsZero() {
		return types, err
	}
	return nil, fmt.Errorf("the hub has not confirmed its instance types for %s: %w", c.options.Clock.Since(answered).Round(time.Second), err)
}

// Fresh reads the types from the hub now. An error is no answer.
func (c *Catalogue) Fresh(ctx context.Context) ([]v1alpha.InstanceType, error) {
	read := c.reads.DoChan("", func() (any, error) {
		// The context is not the caller's: others wait for the same answer.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		defer cancel()
		return c.read(ctx)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-read:
		types, _ := result.Val.([]v1alpha.InstanceType)
		return types, result.Err
	}
}

// Grace returns how long after its deprecation a type may be named by new Workloads, and the present time. 0:
// indefinitely.
func (c *Catalogue) Grace() (grace time.Duration, now time.Time) {
	return c.options.Grace, c.options.Clock.Now()
}

// OnChange registers f, which is called after the types have changed. f must return at once. Call OnChange before
// Start.
func (c *Catalogue) OnChange(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = append(c.changed, f)
}

// Start reads the types at intervals until ctx ends, creates the first type if none exists when it starts, and records
// when types were deprecated. It always returns nil.
func (c *Catalogue) Start(ctx context.Context) error {
	ticker := c.options.Clock.NewTicker(interval)
	defer ticker.Stop()
	for made := false; ; {
		made = c.tend(ctx, made)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// tend reads the types, creates the first one unless that is done, and records deprecations. It reports whether the
// first type needs no further attempt: an operator may delete it.
func (c *Catalogue) tend(ctx context.Context, made bool) bool {
	types, err := c.Fresh(ctx)
	if err != nil {
		return made
	}
	if !made {
		made = c.makeFirst(ctx, types)
	}
	c.recordDeprecations(ctx, types)
	return made
}

// makeFirst creates the first type if none exists, and reports whether the hub has a type.
func (c *Catalogue) makeFirst(ctx context.Context, types []v1alpha.InstanceType) bool {
	if len(types) > 0 {
		return true
	}
	first := First()
	err := c.options.Hub.Create(ctx, first)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		if text := err.Error(); text != c.unmade {
			c.unmade = text
			c.options.Log.Error(err, "The hub has no instance type, and the default one cannot be created: create one", "type", first.Name)
		}
		return false
	}
	if _, err := c.Fresh(ctx); err != nil {
		c.options.Log.Error(err, "The instance types are read again later")
	}
	return true
}

func (c *Catalogue) known() ([]v1alpha.InstanceType, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.types, c.err
}

// read reads the types from the hub.
func (c *Catalogue) read(ctx context.Context) ([]v1alpha.InstanceType, error) {
	var list v1alpha.InstanceTypeList
	err := c.options.Hub.List(ctx, &list)
	switch {
	case wire.IsUnserved(err):
		err = ErrNotServed
	case err != nil:
		err = fmt.Errorf("list the hub's instance types: %w", err)
	}
	types := make([]v1alpha.InstanceType, 0, len(list.Items))
	for i := range list.Items {
		types = append(types, *trimmed(&list.Items[i]))
	}
	slices.SortFunc(types, func(a, b v1alpha.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	c.remember(types, err)
	if err != nil {
		return nil, err
	}
	return types, nil
}

// trimmed returns a type without its unused fields.
func trimmed(kind *v1alpha.InstanceType) *v1alpha.InstanceType {
	return &v1alpha.InstanceType{ObjectMeta: metav1.ObjectMeta{Name: kind.Name}, Spec: kind.Spec, Status: kind.Status}
}

// remember stores an answer, and logs each failure once.
func (c *Catalogue) remember(types []v1alpha.InstanceType, err error) {
	c.mu.Lock()
	before, same := c.err, false
	c.err = err
	if err == nil || errors.Is(err, ErrNotServed) {
		c.answered = c.options.Clock.Now()
	}
	switch {
	case err == nil:
		same = c.types != nil && equality.Semantic.DeepEqual(c.types, types)
		c.types = types
	case errors.Is(err, ErrNotServed):
		same = c.types == nil
		c.types = nil
	default:
		// The old types remain: they hardly change, and their users must not wait for the hub.
		same = true
	}
	changed := c.changed
	c.mu.Unlock()

	switch {
	case errors.Is(err, ErrNotServed):
		c.served.Set(0)
	case err == nil:
		c.served.Set(1)
	}
	if err != nil && (before == nil || before.Error() != err.Error()) {
		c.options.Log.Error(err, "Workloads are checked against the instance types that were known last")
	}
	if same {
		return
	}
	for _, f := range changed {
		f()
	}
}

// CatalogueManager is the field manager of the status of the hub's types.
const CatalogueManager apply.FieldManager = "karmada-compute-catalogue"

// recordDeprecations writes into the hub's types when they were deprecated. Every replica does: the first write wins,
// since each has the version that was read as precondition. A failure is logged if it differs from the previous one,
// and the next read of the types retries.
func (c *Catalogue) recordDeprecations(ctx context.Context, known []v1alpha.InstanceType) {
	if !slices.ContainsFunc(known, lacksDeprecation) {
		return
	}
	text := ""
	if err := c.writeDeprecations(ctx); err != nil {
		text = err.Error()
		if text != c.unrecorded {
			c.options.Log.Error(err, "Failed to record the time of a deprecation; the grace period of the type does not begin")
		}
	}
	c.unrecorded = text
	if _, err := c.Fresh(ctx); err != nil {
		c.options.Log.V(1).Info("The instance types are read again later", "error", err.Error())
	}
}

func (c *Catalogue) writeDeprecations(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var list v1alpha.InstanceTypeList
	if err := c.options.Hub.List(ctx, &list); err != nil {
		return fmt.Errorf("list the hub's instance types: %w", err)
	}
	var failures []error
	for i := range list.Items {
		kind := &list.Items[i]
		if !lacksDeprecation(*kind) {
			continue
		}
		kind.Status.DeprecatedAt = new(metav1.NewTime(c.options.Clock.Now()))
		err := apply.Status(ctx, c.options.Hub, CatalogueManager, kind)
		switch {
		case apierrors.IsConflict(err):
			// Another replica was first.
		case apierrors.IsNotFound(err):
			failures = append(failures, fmt.Errorf("instance type %s is gone, or the hub has an earlier CRD without its status; apply the CRD "+
				"instancetypes.compute.datumapis.com: %w", kind.Name, err))
		case err != nil:
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// lacksDeprecation reports whether a type is deprecated and the time is not recorded.
func lacksDeprecation(kind v1alpha.InstanceType) bool {
	return kind.Spec.Lifecycle.Phase == v1alpha.InstanceTypeDeprecated && kind.Status.DeprecatedAt == nil
}
