// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// hubTimeout bounds the requests of one Ensure, so that the leaf is renewed even if the hub does not answer.
	hubTimeout = 10 * time.Second
	// attempts is how often one Ensure retries after a conflict with another replica.
	attempts = 5
)

// Authority is one replica's view of the CAs that all replicas share, and its own serving certificate.
type Authority struct {
	options Options
	policy  policy
	changed chan struct{}

	mu    sync.Mutex // held by Ensure
	state state      // as last read or written

	served atomic.Pointer[served]
}

// served is the published state. Leaf and bundle change together, so that the leaf's CA is always in the bundle.
type served struct {
	bundle []byte
	signer *ca
	leaf   *tls.Certificate
}

// New makes an Authority. It serves nothing before the first Ensure.
func New(options Options) (*Authority, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	a := &Authority{options: options, changed: make(chan struct{}, 1)}
	a.policy = policy{
		leafLifetime: options.LeafLifetime,
		trustDelay:   options.TrustDelay,
		makeCA:       func(now time.Time) (*ca, error) { return newCA(now, options.CALifetime) },
	}
	if err := registerExpiry(options.Registerer, a.expiry); err != nil {
		return nil, err
	}
	return a, nil
}

// Start calls Ensure at once and then each Interval until ctx ends. Errors are logged and retried.
func (a *Authority) Start(ctx context.Context) error {
	ticker := a.options.Clock.NewTicker(a.options.Interval)
	defer ticker.Stop()
	for {
		if err := a.Ensure(ctx); err != nil && ctx.Err() == nil {
			a.options.Log.Error(err, "Webhook certificates are not up to date; retrying")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// NeedLeaderElection tells a manager that every replica runs this.
func (*Authority) NeedLeaderElection() bool { return false }

// GetCertificate implements tls.Config.GetCertificate.
func (a *Authority) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := a.served.Load()
	if now == nil {
		return nil, errors.New("the webhook has no certificate yet")
	}
	return now.leaf, nil
}

// Bundle is the PEM of the CAs that clients must trust, nil before the first Ensure. Call Ensure just before writing it
// into a webhook configuration: a replica whose state is old would otherwise remove a newer CA.
func (a *Authority) Bundle() []byte {
	now := a.served.Load()
	if now == nil {
		return nil
	}
	return bytes.Clone(now.bundle)
}

// Changed receives a value when the Bundle changed. Several changes may be coalesced. It is for one receiver.
func (a *Authority) Changed() <-chan struct{} { return a.changed }

// Ensure reads or creates the Secret, does the step of a rotation that is due, and renews the leaf when the CA changed or
// two thirds of the leaf's life are over. The leaf is renewed even if the hub fails.
func (a *Authority) Ensure(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, hubTimeout)
	defer cancel()
	var err error
	for range attempts {
		err = a.reconcile(ctx)
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
		// Another replica wrote the Secret first.
		a.options.Log.V(1).Info("Secret of the webhook certificates was changed by another replica; reading it again")
	}
	return errors.Join(err, a.publish())
}

// reconcile does one step of a rotation, if one is due.
func (a *Authority) reconcile(ctx context.Context) error {
	secret, read, err := a.read(ctx)
	if err != nil {
		return err
	}
	if read.current == nil && a.state.current != nil {
		// The Secret was deleted while the webhook runs. Clients trust its CA, so it is created again with the same CA, and
		// a rotation replaces that CA.
		read = a.state
		read.force = true
		a.options.Log.Info("Secret of the webhook certificates was deleted; creating it again and rotating",
			"secret", a.options.Secret.String())
	} else if read.current != nil {
		a.state = read
	}
	// The bundle must be published before Trusted is asked about it.
	if err := a.publish(); err != nil {
		return err
	}
	now := a.options.Clock.Now()
	trusted, trustErr := a.askTrust(ctx, read, now)
	after, step, err := a.policy.advance(read, now, trusted)
	if err != nil || step == "" {
		return errors.Join(err, trustErr)
	}
	if err := a.write(ctx, secret, after); err != nil {
		return err
	}
	a.state = after
	a.options.Log.Info("Webhook certificates: "+step,
		append([]any{"secret", a.options.Secret.String()}, after.describe()...)...)
	return trustErr
}

// read returns an empty Secret and an empty state when there is none.
func (a *Authority) read(ctx context.Context) (*corev1.Secret, state, error) {
	secret := &corev1.Secret{}
	err := a.options.Client.Get(ctx, a.options.Secret, secret)
	if apierrors.IsNotFound(err) {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: a.options.Secret.Namespace, Name: a.options.Secret.Name},
			Type:       corev1.SecretTypeOpaque,
		}, state{}, nil
	}
	if err != nil {
		return nil, state{}, fmt.Errorf("read Secret %s: %w", a.options.Secret, err)
	}
	read, err := decode(secret)
	return secret, read, err
}

// write returns a conflict when another replica has written since the Secret was read.
func (a *Authority) write(ctx context.Context, secret *corev1.Secret, s state) error {
	if err := encode(s, secret); err != nil {
		return fmt.Errorf("Secret %s: %w", a.options.Secret, err)
	}
	if secret.ResourceVersion == "" {
		if err := a.options.Client.Create(ctx, secret); err != nil {
			return fmt.Errorf("create Secret %s: %w", a.options.Secret, err)
		}
		return nil
	}
	if err := a.options.Client.Update(ctx, secret); err != nil {
		return fmt.Errorf("update Secret %s: %w", a.options.Secret, err)
	}
	return nil
}

func (a *Authority) askTrust(ctx context.Context, s state, now time.Time) (trust, error) {
	if s.next == nil {
		return trustUnknown, nil
	}
	if a.options.Trusted == nil {
		return trustComplete, nil
	}
	bundle, err := s.bundle(now)
	if err != nil {
		return trustUnknown, err
	}
	carried, err := a.options.Trusted(ctx, bundle)
	switch {
	case errors.Is(err, ErrUnknown):
		return trustUnknown, nil
	case err != nil:
		return trustUnknown, fmt.Errorf("check whether the webhook configurations have the next CA: %w", err)
	case carried:
		return trustComplete, nil
	}
	return trustMissing, nil
}

// publish updates bundle and leaf by the state and the time.
func (a *Authority) publish() error {
	s, now, before := a.state, a.options.Clock.Now(), a.served.Load()
	if s.current == nil {
		return nil
	}
	bundle, err := s.bundle(now)
	if err != nil {
		return err
	}
	after := &served{bundle: bundle, signer: s.current}
	if before != nil && before.signer.is(s.current) && !renewable(before.leaf, s.current, now) {
		after.leaf = before.leaf
	} else if after.leaf, err = s.current.sign(now, a.options.LeafLifetime, a.options.Names); err != nil {
		return err
	}
	a.served.Store(after)
	if before == nil || !bytes.Equal(before.bundle, after.bundle) {
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
	return nil
}

// renewable says whether a leaf is due and a new one would last longer.
func renewable(leaf *tls.Certificate, signer *ca, now time.Time) bool {
	return due(leaf.Leaf, now) && leaf.Leaf.NotAfter.Before(signer.cert.NotAfter)
}

// expiry returns the values of the expiry metric.
func (a *Authority) expiry() map[string]time.Time {
	now := a.served.Load()
	if now == nil {
		return nil
	}
	return map[string]time.Time{"serving": now.leaf.Leaf.NotAfter, "ca": now.signer.cert.NotAfter}
}
