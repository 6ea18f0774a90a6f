// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// hubTimeout bounds the requests of one Ensure, so that time-dependent state is published even if the hub does not
	// answer.
	hubTimeout = 10 * time.Second
	// attempts is the number of attempts of one Ensure after conflicts with another replica.
	attempts = 5
	// jitter is the largest fraction by which the interval between reads of the Secret is shortened, so that replicas do
	// not read it at the same time.
	jitter = 0.2
)

// Keeper is one replica's view of the state that all replicas share. It is safe for concurrent use.
type Keeper[T any] struct {
	options   Options[T]
	format    format[T]
	rotations *prometheus.CounterVec
	// exposed is the last exposure, until it is in the Secret. woken ends a pause of Start.
	exposed atomic.Pointer[exposure]
	woken   chan struct{}

	mu sync.Mutex // held by Ensure
	// state is as last read or written; nil before that.
	state atomic.Pointer[State[T]]
}

// exposure is an event after which the item that was current may be known to others.
type exposure struct {
	cause string
	at    time.Time
}

// New creates a Keeper. It publishes nothing before the first Ensure.
func New[T any](options Options[T]) (*Keeper[T], error) {
	rotations, err := newRotations(options.Registerer)
	if err != nil {
		return nil, err
	}
	return &Keeper[T]{
		options: options, rotations: rotations, woken: make(chan struct{}, 1),
		format: format[T]{kind: options.Policy.Kind, names: options.Annotations, item: options.Item, extra: options.Extra},
	}, nil
}

// Start calls Ensure at once, then after each Interval at the latest, or each Delay if that is shorter while a rotation
// is in progress, and when there is an exposure, until ctx ends. Errors are logged and retried.
func (k *Keeper[T]) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.Ensure(ctx); err != nil && ctx.Err() == nil {
			k.options.Log.Error(err, k.options.What+" are not up to date; retrying")
		}
		pause := k.options.Interval
		if k.State().Rotating() {
			pause = min(pause, k.options.Delay)
		}
		select {
		case <-ctx.Done():
		case <-k.woken:
		case <-k.options.Clock.After(wait.Jitter(time.Duration((1-jitter)*float64(pause)), jitter/(1-jitter))):
		}
	}
	return nil
}

// State is the state as last read or written. It is empty before the first Ensure.
func (k *Keeper[T]) State() State[T] {
	if s := k.state.Load(); s != nil {
		return *s
	}
	return State[T]{}
}

// Expose reports that the current item may be known to others. It does not wait for the rotation that this may cause.
// Exposures during a rotation whose next item is not used yet cause no further rotation; nor do exposures from before
// the current item.
func (k *Keeper[T]) Expose(cause string) {
	if !k.exposed.CompareAndSwap(nil, &exposure{cause: cause, at: k.options.Clock.Now()}) {
		return
	}
	select {
	case k.woken <- struct{}{}:
	default:
	}
}

// Ensure reads or creates the Secret and does the step of a rotation that is due. The state is published even if the
// hub fails.
func (k *Keeper[T]) Ensure(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, hubTimeout)
	defer cancel()
	var err error
	for range attempts {
		err = k.reconcile(ctx)
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
		k.options.Log.V(1).Info("Secret was changed by another replica; reading it again", "secret", k.options.Secret.String())
	}
	return errors.Join(err, k.publish(k.State()))
}

// reconcile does one step of a rotation, if one is due.
func (k *Keeper[T]) reconcile(ctx context.Context) error {
	secret, read, err := k.read(ctx)
	if err != nil {
		return err
	}
	if before := k.State(); read.Current == nil && before.Current != nil {
		// The Secret was deleted while its content is in use, so it is created again with the same content, and a rotation
		// replaces that.
		read = before
		read.Request = CauseDeleted
		k.options.Log.Info(k.options.What+": the Secret was deleted; creating it again and rotating", "secret", k.options.Secret.String())
	}
	exposed := k.exposed.Load()
	if exposed != nil && !read.CurrentSince.After(exposed.at) && read.Current != nil && read.Next == nil && read.Exposed == "" {
		read.Exposed = exposed.cause
	}
	// The state must be published before Registered is called.
	if err := k.publish(read); err != nil {
		return err
	}
	registered, askErr := k.ask(ctx, read)
	after, step, err := k.options.Policy.Advance(read, k.options.Clock.Now(), registered)
	if err == nil {
		err = k.write(ctx, secret, after, step)
	}
	if err == nil {
		k.exposed.CompareAndSwap(exposed, nil)
	}
	return errors.Join(err, askErr)
}

// read returns an empty Secret and an empty state if the Secret does not exist.
func (k *Keeper[T]) read(ctx context.Context) (*corev1.Secret, State[T], error) {
	secret := &corev1.Secret{}
	err := k.options.Client.Get(ctx, k.options.Secret, secret)
	if apierrors.IsNotFound(err) {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: k.options.Secret.Namespace, Name: k.options.Secret.Name},
			Type:       corev1.SecretTypeOpaque,
		}, State[T]{}, nil
	}
	if err != nil {
		return nil, State[T]{}, fmt.Errorf("read Secret %s: %w", k.options.Secret, err)
	}
	read, err := k.format.decode(secret)
	return secret, read, err
}

// write writes and publishes a state, if the Secret does not have it. It returns a conflict when another replica has
// written since the Secret was read.
func (k *Keeper[T]) write(ctx context.Context, secret *corev1.Secret, s State[T], step Step) error {
	before := secret.DeepCopy()
	if err := k.format.encode(s, secret); err != nil {
		return err
	}
	switch {
	case equality.Semantic.DeepEqual(before, secret):
		return nil
	case secret.ResourceVersion == "":
		if err := k.options.Client.Create(ctx, secret); err != nil {
			return fmt.Errorf("create Secret %s: %w", k.options.Secret, err)
		}
	default:
		if err := k.options.Client.Update(ctx, secret); err != nil {
			return fmt.Errorf("update Secret %s: %w", k.options.Secret, err)
		}
	}
	if step.Cause != "" {
		k.rotations.WithLabelValues(k.options.Item, step.Cause).Inc()
	}
	k.options.Log.Info(k.options.What+": "+cmp.Or(step.Does, "completed the Secret"),
		"secret", k.options.Secret.String(), "cause", cmp.Or(step.Cause, s.Exposed))
	return k.publish(s)
}

// ask asks only while the answer matters.
func (k *Keeper[T]) ask(ctx context.Context, s State[T]) (Registered, error) {
	if s.Current == nil || !k.options.Policy.Awaits(s) {
		return RegisteredUnknown, nil
	}
	complete, err := k.options.Registered(ctx, s)
	switch {
	case errors.Is(err, ErrUnknown):
		return RegisteredUnknown, nil
	case err != nil:
		return RegisteredUnknown, fmt.Errorf("check whether the webhook configurations are up to date: %w", err)
	case complete:
		return RegisteredComplete, nil
	}
	return RegisteredMissing, nil
}

// publish keeps a state that has a current item, and passes it on.
func (k *Keeper[T]) publish(s State[T]) error {
	if s.Current == nil {
		return nil
	}
	k.state.Store(&s)
	if k.options.Publish == nil {
		return nil
	}
	return k.options.Publish(s)
}

// newRotations registers the metric that all kinds share.
func newRotations(registerer prometheus.Registerer) (*prometheus.CounterVec, error) {
	rotations := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karmada_compute_webhook_rotations_total",
		Help: "Rotations of the webhooks' paths and CAs that this replica has begun, by cause: due, requested (by annotation), " +
			"deleted (the Secret was), expired; and for paths, whose last rotation is long enough ago, start, left and handshake: " +
			"what may have shown the path.",
	}, []string{"of", "cause"})
	if registerer == nil {
		return rotations, nil
	}
	err := registerer.Register(rotations)
	if taken := (prometheus.AlreadyRegisteredError{}); errors.As(err, &taken) {
		if known, ok := taken.ExistingCollector.(*prometheus.CounterVec); ok {
			return known, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("register the metric of rotations: %w", err)
	}
	return rotations, nil
}

// Defaults of Store.
const (
	DefaultDelay    = 5 * time.Minute
	DefaultInterval = 10 * time.Second
)

// Store is where a Keeper keeps its state, and when.
type Store struct {
	// Client reads and writes the Secret (get, create, update), without a cache: a stale read would undo another replica's
	// write.
	Client client.Client
	// Secret holds the state.
	Secret types.NamespacedName
	// Delay is how long API servers get to observe changed webhook configurations, five minutes by default: the watch of
	// one that could not reach its storage for a while is retried after up to a minute.
	Delay time.Duration
	// Interval is the longest time between reads of the Secret, 10 seconds by default.
	Interval time.Duration
	// Clock is the real clock by default.
	Clock clock.Clock
	// Registerer registers the metrics. Nil: none.
	Registerer prometheus.Registerer
	// Log gets the steps of rotations.
	Log logr.Logger
}

// Complete sets the defaults and returns the first mistake. what is the name of the state in errors.
func (s *Store) Complete(what string) error {
	if s.Client == nil || s.Secret.Name == "" || s.Secret.Namespace == "" {
		return fmt.Errorf("%s: a client, and the namespace and name of a Secret, are needed", what)
	}
	if s.Delay < 0 || s.Interval < 0 {
		return fmt.Errorf("%s: delay and interval must not be negative", what)
	}
	s.Delay = cmp.Or(s.Delay, DefaultDelay)
	s.Interval = cmp.Or(s.Interval, DefaultInterval)
	if s.Clock == nil {
		s.Clock = clock.RealClock{}
	}
	return nil
}

// Options configure a Keeper.
type Options[T any] struct {
	Store
	Policy Policy[T]
	// Annotations hold the times of the state.
	Annotations Annotations
	// What: the name of the state in logs. Item: the name of an item of the state in logs, errors and metrics.
	What, Item string
	// Extra writes additional entries of the Secret for the current item. Nil: there are no additional entries.
	Extra func(current *T, data map[string][]byte)
	// Publish is called with each state that was read or written, and whenever the passed time may have changed its
	// consequences. Nil: it is not called.
	Publish func(State[T]) error
	// Registered reports whether every webhook configuration has the item that Policy.Awaits waits for. It must not call
	// Ensure. ErrUnknown means that this replica does not know: the others decide.
	Registered func(context.Context, State[T]) (bool, error)
}

// ErrUnknown is returned by Options.Registered of a replica that does not register webhooks.
var ErrUnknown = errors.New("this replica does not know what is in the webhook configurations")
