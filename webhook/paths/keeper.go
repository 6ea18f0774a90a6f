// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// hubTimeout bounds the requests of one Ensure.
	hubTimeout = 10 * time.Second
	// attempts is how often one Ensure retries after a conflict with another replica.
	attempts = 5
)

// Keeper is one replica's view of the keys that all replicas share. It is safe for concurrent use.
type Keeper struct {
	options Options
	policy  policy
	changed chan struct{}

	mu sync.Mutex // held by Ensure
	// state is as last read or written; nil before that.
	state atomic.Pointer[state]
}

// New makes a Keeper. It accepts nothing before the first Ensure.
func New(options Options) (*Keeper, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	k := &Keeper{options: options, changed: make(chan struct{}, 1)}
	k.policy = policy{lifetime: options.Lifetime, learning: options.learning(), delay: options.Delay, makeKey: newKey}
	if options.Carried == nil {
		k.policy.lifetime = 0
	}
	return k, nil
}

// Start calls Ensure at once and then each Interval, or each Delay if that is shorter while a rotation is in progress, until
// ctx ends. Errors are logged and retried.
func (k *Keeper) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.Ensure(ctx); err != nil && ctx.Err() == nil {
			k.options.Log.Error(err, "The paths of webhooks are not up to date; retrying")
		}
		wait := k.options.Interval
		if s := k.state.Load(); s != nil && s.rotating() {
			wait = min(wait, k.options.Delay)
		}
		select {
		case <-ctx.Done():
		case <-k.options.Clock.After(wait):
		}
	}
	return nil
}

// Ready returns an error while there is no key.
func (k *Keeper) Ready() error {
	if k.state.Load() == nil {
		return fmt.Errorf("the paths of webhooks are not known yet: Secret %s of the hub was not read", k.options.Secret)
	}
	return nil
}

// Accepts says whether secret may follow the plain path of a webhook.
func (k *Keeper) Accepts(plain, secret string) bool {
	s := k.state.Load()
	return s != nil && s.accepts(plain, secret)
}

// Path is where the webhook with a plain path is to be called: "" before the first Ensure. Call Ensure just before writing
// it into a webhook configuration: a replica whose state is old would otherwise bring back an older path.
func (k *Keeper) Path(plain string) string {
	s := k.state.Load()
	if s == nil {
		return ""
	}
	return s.current.path(plain)
}

// Changed receives a value when paths changed. Several changes may be coalesced. It is for one receiver.
func (k *Keeper) Changed() <-chan struct{} { return k.changed }

// Ensure reads or creates the Secret and does the step of a rotation that is due.
func (k *Keeper) Ensure(ctx context.Context) error {
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
		// Another replica wrote the Secret first.
		k.options.Log.V(1).Info("Secret of the webhooks' paths was changed by another replica; reading it again")
	}
	return err
}

// reconcile does one step of a rotation, if one is due.
func (k *Keeper) reconcile(ctx context.Context) error {
	secret, read, err := k.read(ctx)
	if err != nil {
		return err
	}
	before := k.state.Load()
	switch {
	case read.current != nil:
		k.publish(read)
	case before != nil:
		// The Secret was deleted while the webhooks run. Their paths are registered, so it is created again with the same
		// keys, and a rotation replaces them.
		read = *before
		read.force = true
		k.options.Log.Info("Secret of the webhooks' paths was deleted; creating it again and rotating", "secret", k.options.Secret.String())
	}
	now := k.options.Clock.Now()
	has, askErr := k.askCarried(ctx, read)
	after, step, err := k.policy.advance(read, now, has)
	if err != nil {
		return errors.Join(err, askErr)
	}
	return errors.Join(k.write(ctx, secret, after, step), askErr)
}

// read returns an empty Secret and an empty state when there is none.
func (k *Keeper) read(ctx context.Context) (*corev1.Secret, state, error) {
	secret := &corev1.Secret{}
	err := k.options.Client.Get(ctx, k.options.Secret, secret)
	if apierrors.IsNotFound(err) {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: k.options.Secret.Namespace, Name: k.options.Secret.Name},
			Type:       corev1.SecretTypeOpaque,
		}, state{}, nil
	}
	if err != nil {
		return nil, state{}, fmt.Errorf("read Secret %s: %w", k.options.Secret, err)
	}
	read, err := decode(secret)
	return secret, read, err
}

// write writes and publishes a state, if the Secret does not have it. It returns a conflict when another replica has written
// since the Secret was read.
func (k *Keeper) write(ctx context.Context, secret *corev1.Secret, s state, step string) error {
	before := secret.DeepCopy()
	encode(s, k.options.Plain, secret)
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
	k.publish(s)
	if step == "" {
		step = "completed the Secret"
	}
	k.options.Log.Info("Paths of webhooks: "+step, "secret", k.options.Secret.String())
	return nil
}

// askCarried asks only while the answer matters.
func (k *Keeper) askCarried(ctx context.Context, s state) (carried, error) {
	if s.previous == nil || k.options.Carried == nil {
		return carriedUnknown, nil
	}
	complete, err := k.options.Carried(ctx, s.current.path)
	switch {
	case err != nil:
		return carriedUnknown, fmt.Errorf("check whether the webhook configurations have the current paths: %w", err)
	case complete:
		return carriedComplete, nil
	}
	return carriedMissing, nil
}

func (k *Keeper) publish(s state) {
	before := k.state.Swap(&s)
	if before == nil || string(before.current) != string(s.current) {
		select {
		case k.changed <- struct{}{}:
		default:
		}
	}
}
